// Measures the page in Chromium: first paint, size of the first view, and how soon findings follow the last key. Prints figures;
// tests have no clocks.

import { cliFindings, open, start } from "./harness.mjs";

const session = await start();
try {
  const page = await open(session);
  const client = await page.context().newCDPSession(page);
  await client.send("Network.enable");
  await client.send("Network.setCacheDisabled", { cacheDisabled: true });
  const sizes = new Map();
  client.on("Network.responseReceived", (event) => sizes.set(event.requestId, { url: event.response.url, bytes: 0 }));
  client.on("Network.loadingFinished", (event) => {
    const entry = sizes.get(event.requestId);
    if (entry) entry.bytes = event.encodedDataLength;
  });
  await page.reload();
  await page.locator(".game-card .piece").first().waitFor();
  const drawn = await page.evaluate(() => performance.now());
  await page.waitForLoadState("networkidle");
  const paint = await page.evaluate(() => Object.fromEntries(performance.getEntriesByType("paint").map((entry) => [entry.name, Math.round(entry.startTime)])));
  const all = [...sizes.values()];
  const isApi = (entry) => entry.url.includes("/api/");
  const sum = (list) => Math.round(list.reduce((total, entry) => total + entry.bytes, 0) / 1000);
  console.log(`first paint ${paint["first-paint"]} ms, first contentful paint ${paint["first-contentful-paint"]} ms, first board drawn ${Math.round(drawn)} ms`);
  console.log(`first view: ${sum(all)} kB transferred, of which page ${sum(all.filter((entry) => !isApi(entry)))} kB and data ${sum(all.filter(isApi))} kB, ${all.length} requests`);

  await page.goto(`${session.url}#/new/chess`);
  await page.getByText("Rules in GDL").waitFor();
  const chess = await page.evaluate(async () => (await (await fetch("/api/games/chess")).json()).rules);
  for (const [name, rules] of [["chess, cut to 20 kB", chess.slice(0, 20_000)]]) {
    await page.goto(`${session.url}#/write`);
    await page.locator(".cm-content").focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(rules);
    await page.waitForTimeout(1500);
    const times = [];
    for (let round = 0; round < 10; round++) {
      await page.keyboard.press("Control+End");
      const extra = round % 2 === 0 ? " (<= (unsafe ?x) (role ?y))" : "";
      const n = cliFindings(rules + extra).length;
      const wait = page.evaluate(
        (wanted) =>
          new Promise((resolve) => {
            const begin = performance.now();
            const isThere = () => document.querySelectorAll(".finding").length === wanted;
            const observer = new MutationObserver(() => {
              if (isThere()) {
                observer.disconnect();
                resolve(performance.now() - begin);
              }
            });
            observer.observe(document.querySelector(".write-right"), { childList: true, subtree: true, characterData: true });
          }),
        n,
      );
      if (round % 2 === 0) await page.keyboard.insertText(extra);
      else await page.keyboard.press("Control+z");
      times.push(Math.round(await wait));
    }
    times.sort((one, two) => one - two);
    console.log(`findings after the last key (${name}): median ${times[5]} ms, most ${times.at(-1)} ms of ${times.length}`);
  }
} finally {
  await session.stop();
}
