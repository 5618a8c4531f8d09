// What holds for all pages: no serious finding of axe, no text of a rulesheet that becomes a script, small screens, size.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { begin, click, open, start, untilTurn } from "./harness.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let session;
before(async () => {
  session = await start();
});
after(() => session?.stop());

/** The pages, each with what shows that it is there. */
const pages = {
  gallery: ["#/", ".game-card .piece"],
  setup: ["#/new/chess", ".setup .piece"],
  explore: ["#/explore/hex", ".stage .cell"],
  "without a board": ["#/explore/goofspiel", ".fact-table"],
  records: ["#/records", ".drop"],
  write: ["#/write", ".cm-content"],
  host: ["#/host", ".host-grid"],
};

async function seriousFindings(page) {
  // The policy of the server forbids scripts from elsewhere, also those of a test; evaluate runs outside of it.
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return result.violations
    .filter((finding) => finding.impact === "serious" || finding.impact === "critical")
    .map((finding) => `${finding.id}: ${finding.nodes.map((node) => node.target.join(" ")).slice(0, 3).join("; ")}`);
}

for (const scheme of ["light", "dark"]) {
  for (const [name, [path, sign]] of Object.entries(pages)) {
    test(`axe: ${name}, ${scheme}`, async () => {
      const page = await open(session, path, { colorScheme: scheme });
      await page.locator(sign).first().waitFor();
      assert.deepEqual(await seriousFindings(page), []);
      assert.deepEqual(page.faults, []);
      await page.context().close();
    });
  }

  test(`axe: a match with its search, ${scheme}`, async () => {
    const page = await open(session, "", { colorScheme: scheme });
    await begin(page, session, "breakthrough_small");
    await untilTurn(page);
    await page.getByRole("tab", { name: "Search" }).click();
    await page.getByRole("button", { name: "Analyse this position" }).click();
    await page.locator(".bars tbody tr").first().waitFor();
    assert.deepEqual(await seriousFindings(page), []);
    await page.getByRole("tab", { name: "Share" }).click();
    assert.deepEqual(await seriousFindings(page), []);
    await page.context().close();
  });
}

for (const width of [360, 1920]) {
  test(`no page is wider than a screen of ${width} pixels`, async () => {
    const page = await open(session, "", { viewport: { width, height: 780 } });
    for (const [name, [path, sign]] of Object.entries(pages)) {
      await page.goto(session.url + path);
      await page.locator(sign).first().waitFor();
      const extra = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(extra <= 0, `${name} is ${extra} pixels too wide`);
    }
    await page.context().close();
  });
}

test("the first view is smaller than 300 kB and comes from this server alone", async () => {
  const page = await open(session);
  const client = await page.context().newCDPSession(page);
  await client.send("Network.enable");
  let bytes = 0;
  const foreign = [];
  client.on("Network.loadingFinished", (event) => (bytes += event.encodedDataLength));
  page.on("request", (request) => {
    if (!request.url().startsWith(session.url) && !request.url().startsWith("data:")) foreign.push(request.url());
  });
  await page.reload();
  await page.locator(".game-card .piece").first().waitFor();
  await page.waitForLoadState("networkidle");
  assert.ok(bytes > 10_000, `${bytes} bytes were counted`);
  assert.ok(bytes < 300_000, `the first view has ${bytes} bytes`);
  assert.deepEqual(foreign, []);
  await page.context().close();
});

test("the gallery draws its boards, finds and filters", async () => {
  const page = await open(session);
  await page.locator(".game-card").first().waitFor();
  const all = await page.locator(".game-card").count();
  assert.ok(all >= 70, `${all} games`);
  await page.getByLabel("Search").fill("chess");
  await page.locator(".game-card", { hasText: /^Chess/ }).locator(".piece").first().waitFor();
  await page.getByLabel("Search").fill("");
  await page.getByLabel("Players").selectOption("3");
  await page.waitForFunction((n) => document.querySelectorAll(".game-card").length < n, all);
  await page.getByLabel("Board").selectOption("hex");
  await page.locator(".game-card", { hasText: "Chinese Checkers for three" }).click();
  await page.getByRole("heading", { name: "Chinese Checkers for three" }).waitFor();
  await page.context().close();
});

test("a game is played with the keyboard alone", async () => {
  const page = await open(session);
  await begin(page, session, "tic_tac_toe", { O: "You" });
  await untilTurn(page);
  await page.locator('.board-svg [tabindex="0"]').focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "2 2: X" }).waitFor();
  await page.context().close();
});

test("the theme stays as it was switched", async () => {
  const page = await open(session);
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  await page.getByRole("button", { name: "Theme: system" }).click();
  await page.getByRole("button", { name: "Theme: light" }).click();
  assert.equal(await theme(), "dark");
  await page.reload();
  assert.equal(await theme(), "dark");
  await page.context().close();
});

const script = "<img_src=x_onerror=window.broken=1>";

test("script in the names of roles, relations, moves and players is text", async () => {
  const page = await open(session);
  const rules = `(role ${script}) (role b)
    (init (${script} 1)) (init (step 1)) (succ 1 2) (succ 2 3)
    (<= (legal ?r ${script}) (role ?r)) (<= (legal ?r other) (role ?r))
    (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m)) (<= (next (${script} ?n)) (true (step ?n)))
    (<= terminal (true (step 3))) (<= (goal ?r 100) (role ?r))`;
  const metadata = `title = '<img src=x onerror="window.broken=1">'\ndescription = '<script>window.broken=1</script>'\n[roles]\nb = '<b onmouseover="window.broken=1">B</b>'\n`;
  const game = await page.evaluate(
    async ([rules, metadata]) => {
      const answer = await fetch("/api/games", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ rules, metadata, name: "<svg onload=1>" }) });
      return answer.json();
    },
    [rules, metadata],
  );
  assert.ok(game.id, JSON.stringify(game));
  await page.goto(`${session.url}#/new/${game.id}`);
  await page.getByRole("button", { name: "Play", exact: true }).waitFor();
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.waitForURL(/#\/match\//);
  for (let n = 0; n < 2 && (await untilTurn(page)); n++) {
    await page.locator(".legal-move").first().click();
    await page.waitForFunction((step) => Number(document.querySelector(".stepper-text")?.textContent?.split("/")[1]) > step, n);
  }
  await page.locator(".status.ending").waitFor();
  await page.goto(`${session.url}#/write?game=${game.id}`);
  await page.locator(".cm-content").waitFor();
  assert.equal(await page.evaluate(() => window.broken), undefined);
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("a link restores a position, also of rules that the server has forgotten", async () => {
  const page = await open(session, "#/explore/tic_tac_toe");
  await page.locator(".stage .cell").first().waitFor();
  await click(page, "2 2");
  await page.waitForFunction(() => document.querySelectorAll(".pieces .piece").length === 1);
  await page.getByRole("tab", { name: "Share" }).click();
  await page.evaluate(() => {
    Object.defineProperty(navigator, "clipboard", { value: { writeText: () => Promise.reject(new Error("no clipboard")) } });
  });
  await page.getByRole("button", { name: "Link", exact: true }).click();
  const link = await page.locator(".break").textContent();
  const other = await open(session);
  await other.goto(link);
  await other.getByRole("button", { name: "2 2: X" }).waitFor();
  const downloads = [];
  page.on("download", (download) => downloads.push(download.suggestedFilename()));
  for (const name of ["Moves", "SVG", "PNG"]) {
    const wait = page.waitForEvent("download");
    await page.getByRole("button", { name, exact: true }).click();
    const file = await wait;
    const text = readFileSync(await file.path());
    if (name === "Moves") assert.match(text.toString(), /\(mark 2 2\)/);
    if (name === "SVG") assert.match(text.toString(), /^<svg[^>]*xmlns/);
    if (name === "PNG") assert.equal(text.subarray(1, 4).toString(), "PNG");
  }
  assert.deepEqual(page.faults, []);
  await other.context().close();
  await page.context().close();
});
