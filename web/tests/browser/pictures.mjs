// Pictures of the pages: all views and twelve games, light and dark. Writes to docs/pictures, or to the folder that is given.

import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { open, start } from "./harness.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = resolve(process.argv[2] ?? join(root, "docs/pictures"));
const only = process.argv[3] ?? "";
mkdirSync(folder, { recursive: true });

/** Twelve games and how many steps into a match they are shown. */
const games = {
  chess: 14,
  othello: 24,
  hex: 20,
  connect_four: 18,
  chinese_checkers_3: 15,
  english_draughts: 16,
  tic_tac_toe_3d: 18,
  nine_board_tic_tac_toe: 24,
  sokoban: 9,
  amazons_6x6: 12,
  nine_mens_morris: 14,
  quarto: 15,
};

const session = await start();

async function call(path, body, token) {
  const headers = { "Content-Type": "application/json", ...(token ? { "Agon-Token": token } : {}) };
  const answer = await fetch(`${session.url}api/${path}`, body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) });
  const json = await answer.json();
  if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(json)}`);
  return json;
}

/** A match of two of Agon that has come so far. */
async function played(game, steps, playouts = 300) {
  const info = await call(`games/${game}`);
  const made = await call("matches", { game, seats: info.roles.map(() => ({ kind: "bot", player: "agon" })), startClock: 1, playClock: 5, playouts, pace: 0, seed: 5 });
  for (let round = 0; round < 600; round++) {
    const match = await call(`matches/${made.id}`, undefined, made.owner);
    if (match.history.length >= steps || match.status === "over") break;
    await new Promise((done) => setTimeout(done, 100));
  }
  await call(`matches/${made.id}/control`, { isPaused: true }, made.owner).catch(() => undefined);
  const match = await call(`matches/${made.id}`, undefined, made.owner);
  return { ...made, moves: match.history.slice(0, steps).map((step) => step.moves.map((move) => move.kif)) };
}

const positions = new Map();
if (only === "" || "games".includes(only)) {
  for (const [game, steps] of Object.entries(games)) positions.set(game, await played(game, steps));
}
const watched = await played("breakthrough", 21, 4000);
const goofspiel = await played("goofspiel", 3);

for (const scheme of ["light", "dark"]) {
  const shot = async (name, path, act, options = {}) => {
    if (!name.includes(only)) return;
    const page = await open(session, "", { colorScheme: scheme, viewport: { width: 1180, height: 760 }, deviceScaleFactor: 0.75, ...options });
    await page.goto(session.url + path);
    try {
      await act(page);
    } catch (fault) {
      console.log(`${name}: ${fault.message}`);
    }
    await page.waitForTimeout(400);
    await page.screenshot({ path: join(folder, `${name}-${scheme}.png`) });
    if (page.faults.length > 0) console.log(name, page.faults);
    await page.context().close();
  };
  const sees = (selector) => (page) => page.locator(selector).first().waitFor();
  await shot("gallery", "#/", async (page) => {
    await sees(".game-card .piece")(page);
    await page.waitForLoadState("networkidle");
  });
  await shot("setup", "#/new/chess", sees(".setup .piece"));
  await shot("watch", `#/match/${watched.id}`, async (page) => {
    await sees(".stage .piece")(page);
    await page.getByRole("tab", { name: "Search" }).click();
    await page.getByRole("button", { name: "Analyse this position" }).click();
    await page.locator(".bars tbody tr").first().waitFor();
    await page.waitForTimeout(2500);
  });
  await shot("moves", `#/match/${watched.id}`, async (page) => {
    await sees(".stage .piece")(page);
    await page.getByRole("tab", { name: "Moves" }).click();
  });
  await shot("table", `#/match/${goofspiel.id}`, sees(".fact-table"));
  await shot("records", "#/records", sees(".drop"));
  await shot("write", "#/write", async (page) => {
    await sees(".write-right .cell")(page);
    await page.locator(".cm-line", { hasText: "(goal ?r 50)" }).click();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.keyboard.insertText("(<= (next (cell ?x ?y ?who)) (does ?r (putt ?x ?y)))");
    await sees(".finding")(page);
  });
  await shot("host", "#/host", sees(".host-grid table"));
  await shot("phone", `#/match/${watched.id}`, sees(".stage .piece"), { viewport: { width: 390, height: 800 }, deviceScaleFactor: 0.8 });
  await shot("phone-gallery", "#/", sees(".game-card .piece"), { viewport: { width: 360, height: 760 }, deviceScaleFactor: 0.8 });
  if ("games".includes(only)) {
    const boards = [];
    for (const [game, { moves }] of positions) {
      const page = await open(session, "", { colorScheme: scheme, viewport: { width: 900, height: 1500 }, deviceScaleFactor: 0.6 });
      await page.goto(`${session.url}#/explore/${game}?moves=${await packed(page, moves)}`);
      await sees(".stage .piece")(page);
      await page.waitForTimeout(200);
      const box = await page.locator(".stage .board").first().screenshot();
      boards.push({ game, title: await page.locator("h1").textContent(), image: box.toString("base64") });
      await page.context().close();
    }
    const sheet = await session.browser.newPage({ viewport: { width: 1180, height: 900 }, deviceScaleFactor: 0.75 });
    const [back, ink] = scheme === "light" ? ["#f5f4f1", "#1b2226"] : ["#131719", "#e8ecee"];
    await sheet.setContent(`<body style="margin:0;padding:18px;background:${back};color:${ink};font:15px Inter,sans-serif"><div style="display:grid;grid-template-columns:repeat(4,1fr);gap:18px">${boards
      .map((board) => `<figure style="margin:0;text-align:center"><div style="height:250px;display:grid;place-items:center"><img style="max-width:100%;max-height:250px" src="data:image/png;base64,${board.image}"></div><figcaption style="margin-top:6px;font-weight:600">${board.title}</figcaption></figure>`)
      .join("")}</div></body>`);
    await sheet.waitForTimeout(300);
    writeFileSync(join(folder, `games-${scheme}.png`), await sheet.screenshot({ fullPage: true }));
    await sheet.close();
  }
}
await session.stop();

/** Moves in the form of links, made by the page's own browser. */
async function packed(page, moves) {
  return page.evaluate(async (text) => {
    const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  }, JSON.stringify(moves));
}
