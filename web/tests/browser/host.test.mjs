// The host page: a tournament that runs from the page, its table and plot; a player that is asked whether it is there.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open, start } from "./harness.mjs";

let session;
before(async () => {
  session = await start();
});
after(() => session?.stop());

test("a tournament runs from the page and shows scores with intervals", async () => {
  const page = await open(session, "#/host");
  await page.getByLabel("Name").fill("small");
  await page
    .getByLabel("File (.toml)")
    .fill('games = ["tic_tac_toe"]\nplayers = ["random", "legal"]\ngames_per_pair = 4\nbudget = { playouts = 10 }\nseed = 1\n');
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/#\/host\/store\/small/);
  await page.locator(".interval-point").first().waitFor({ timeout: 60_000 });
  await page.waitForFunction(() => [...document.querySelectorAll("td.number")].some((cell) => cell.textContent === "4"), undefined, { timeout: 60_000 });
  assert.match(await page.locator(".scroll-x table").innerText(), /random[\s\S]*legal/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("a tournament file with a fault is not started, and the page says why", async () => {
  const page = await open(session, "#/host");
  await page.getByLabel("File (.toml)").fill("games = [");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("alert").waitFor();
  assert.ok(page.url().endsWith("#/host"));
  await page.context().close();
});

test("a player that is not there is called unreachable", async () => {
  const page = await open(session, "#/host");
  await page.getByLabel("Address of a GGP player").fill("http://127.0.0.1:1");
  await page.getByRole("button", { name: "Ask" }).click();
  await page.getByText(/unreachable/).waitFor();
  await page.context().close();
});
