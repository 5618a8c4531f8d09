// Starts `agon web` and Chromium for a test file, and has what all tests do with them.
//
// AGON is the binary (default: target/release/agon), CHROMIUM the browser (default: /usr/bin/chromium). With PAGES, a folder, the
// pages come from there instead of from the binary, so that they can be tried without building it again.

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("../../../", import.meta.url));
export const agon = process.env.AGON ?? join(root, "target/release/agon");
const browserPath = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Without these, Chromium looks for its maker's servers at every start. */
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function start(options = []) {
  for (const [path, what] of [[agon, "cargo build --release"], [browserPath, "apt-get install chromium"]]) {
    if (!existsSync(path)) throw new Error(`${path} is missing: ${what}`);
  }
  const port = await freePort();
  const data = mkdtempSync(join(tmpdir(), "agon-web-"));
  const server = spawn(agon, ["web", "--port", String(port), "--data", data, ...options], { stdio: ["ignore", "pipe", "pipe"] });
  // A test run that breaks off leaves no server behind.
  process.once("exit", () => server.kill());
  let output = "";
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (text) => (output += text));
  const url = `http://127.0.0.1:${port}/`;
  await untilUp(url, server, () => output);
  const browser = await chromium.launch({ executablePath: browserPath, args: flags });
  return {
    url,
    browser,
    output: () => output,
    stop: async () => {
      await browser.close();
      const gone = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGTERM");
      await gone;
      rmSync(data, { recursive: true, force: true });
    },
  };
}

async function untilUp(url, server, output) {
  for (let round = 0; round < 300; round++) {
    if (server.exitCode !== null) throw new Error(`agon web ended: ${output()}`);
    try {
      if ((await fetch(`${url}api/server`)).ok) return;
    } catch {
      // Not yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`agon web does not answer: ${output()}`);
}

/** A page that fails the test if a script fails or the policy of the server forbids something. */
export async function open(session, path = "", options = {}) {
  const context = await session.browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", ...options });
  if (process.env.PAGES) await context.route((url) => !url.pathname.startsWith("/api/"), servePages);
  const page = await context.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(error.message));
  page.on("console", (message) => {
    const isRefused = /Content Security Policy|Refused to/i.test(message.text());
    if (isRefused) page.faults.push(message.text());
  });
  page.setDefaultTimeout(20_000);
  await page.goto(session.url + path);
  return page;
}

async function servePages(route) {
  const { pathname } = new URL(route.request().url());
  await route.fulfill({ path: join(process.env.PAGES, pathname === "/" ? "index.html" : pathname) });
}

/** Sets up a match on the page: who sits where, by the names of the roles. */
export async function begin(page, session, game, seats = {}, clock = "0.2") {
  await page.goto(`${session.url}#/new/${game}`);
  await page.getByRole("button", { name: /^(Play|Watch)$/ }).waitFor();
  for (const [role, who] of Object.entries(seats)) {
    await page.getByLabel(`Who plays ${role}`, { exact: true }).selectOption({ label: who });
  }
  await page.getByLabel("Agon's time per move").selectOption(clock);
  await page.getByLabel("Time to get ready").selectOption("1");
  await page.getByRole("button", { name: /^(Play|Watch)$/ }).click();
  await page.waitForURL(/#\/match\//);
  await page.locator(".stage").waitFor();
}

export const ending = (page) => page.locator(".status.ending");

/** Clicks the middle of a cell with the mouse. */
export async function click(page, cell) {
  const box = await page.locator(`[data-name="${cell}"] .ground`).first().boundingBox();
  if (!box) throw new Error(`there is no cell ${cell}`);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
}

/** Drags from cell to cell with the mouse. */
export async function drag(page, from, to) {
  const middle = async (cell) => {
    const box = await page.locator(`[data-name="${cell}"] .ground`).first().boundingBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  await page.mouse.move(...(await middle(from)));
  await page.mouse.down();
  await page.mouse.move(...(await middle(to)), { steps: 5 });
  await page.mouse.up();
}

/** The number of joint moves so far. */
export async function step(page) {
  return Number((await page.locator(".stepper-text").textContent()).split("/")[1]);
}

/** Waits until more joint moves have been made. */
export async function untilStep(page, n) {
  await page.waitForFunction((wanted) => Number(document.querySelector(".stepper-text")?.textContent?.split("/")[1]) >= wanted, n);
}

/** Waits until this page has to choose, or the match is over. Returns whether it goes on. */
export async function untilTurn(page) {
  await page.locator(".status.ending, .status.yours").first().waitFor({ timeout: 60_000 });
  return (await ending(page).count()) === 0;
}

/** Makes any legal move by mouse: on the board where possible, otherwise in the list. */
export async function anyMove(page, random) {
  const pick = async (selector) => {
    const all = page.locator(selector);
    const n = await all.count();
    if (n === 0) return false;
    const box = await all.nth(Math.floor(random() * n)).boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    return true;
  };
  const target = ".board-svg.active .cell:has(.target) .ground";
  const choose = async () => {
    const chooser = page.locator(".chooser button").first();
    if (await chooser.isVisible()) await chooser.click();
  };
  if (await pick(target)) return choose();
  if (await pick(".board-svg.active .cell.source .ground")) {
    await page.locator(target).first().waitFor();
    await pick(target);
    return choose();
  }
  const list = page.locator(".legal-move");
  if (!(await list.first().isVisible())) await page.locator(".move-entry summary").click();
  const n = await list.count();
  await list.nth(Math.floor(random() * n)).click();
}

/** Plays to the end with any moves. Returns how many it made. */
export async function playOn(page, seed = 1) {
  const random = generator(seed);
  let n = 0;
  while (await untilTurn(page)) {
    const before = await page.locator(".stepper-text").textContent();
    const status = await page.locator(".status").textContent();
    await anyMove(page, random);
    n += 1;
    // The next turn comes with a new step, another role, or the end.
    await page.waitForFunction(
      ([text, said]) => {
        const now = document.querySelector(".status");
        return document.querySelector(".stepper-text")?.textContent !== text || now?.textContent !== said;
      },
      [before, status],
    );
    if (n > 400) throw new Error("the match does not end");
  }
  return n;
}

/** Random numbers that are the same in every run. */
export function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What `agon check` finds in rules: severity, kind, place and message, sorted. */
export function cliFindings(rules) {
  const folder = mkdtempSync(join(tmpdir(), "agon-check-"));
  const file = join(folder, "sheet.kif");
  writeFileSync(file, rules);
  let output;
  try {
    output = execFileSync(agon, ["check", "--json", file], { encoding: "utf8" });
  } catch (fault) {
    output = fault.stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const { errors, warnings } = JSON.parse(output);
  const lines = (severity, findings) => findings.map((finding) => `${severity} ${finding.kind} ${finding.line}:${finding.column} ${finding.message}`);
  return [...lines("error", errors), ...lines("warning", warnings)].sort();
}

/** Prints what a page shows when its test has failed, and keeps a picture of it. */
export async function report(page, name, session) {
  const text = await page.locator("body").innerText().catch(() => "");
  const file = join(root, "web/screenshots", `${name.replace(/\W+/g, "-")}.png`);
  await page.screenshot({ path: file }).catch(() => undefined);
  console.log(`${name}\n  at ${page.url()}\n  shows: ${text.replace(/\s+/g, " ").slice(0, 400)}\n  server: ${session.output().slice(-500)}\n  picture: ${file}`);
}
