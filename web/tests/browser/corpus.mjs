// Uploads rulesheets of a folder, picked at random, through the page, and makes one move in each: on the board where it can be,
// otherwise in the list. Prints the share that shows a board, and why others do not.
//
// node tests/browser/corpus.mjs FOLDER [HOW MANY] [SEED]

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { anyMove, generator, open, start, untilStep, untilTurn } from "./harness.mjs";

const [folder, count = "50", seed = "1"] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node tests/browser/corpus.mjs FOLDER [HOW MANY] [SEED]");
  process.exit(2);
}
const random = generator(Number(seed));
const sheets = readdirSync(folder).filter((name) => /\.(kif|gdl)$/.test(name)).sort();
for (let idx = sheets.length - 1; idx > 0; idx--) {
  const other = Math.floor(random() * (idx + 1));
  [sheets[idx], sheets[other]] = [sheets[other], sheets[idx]];
}

const session = await start();
const boards = [];
const tables = [];
const failed = [];
for (const sheet of sheets.slice(0, Number(count))) {
  const page = await open(session, "#/write");
  page.setDefaultTimeout(60_000);
  try {
    await page.locator(".cm-content").waitFor();
    await page.locator('input[type="file"]').setInputFiles(join(folder, sheet));
    await page.getByRole("button", { name: "Play it" }).click();
    await page.waitForURL(/#\/new\/u-/);
    const play = page.getByRole("button", { name: "Play", exact: true });
    await play.waitFor();
    const hasBoard = (await page.locator(".setup .board-svg .cell").count()) > 0;
    const game = /u-[0-9a-f]+/.exec(page.url())[0];
    const { noBoardReason } = await (await fetch(`${session.url}api/games/${game}`)).json();
    for (const role of await page.locator(".seat-field select").all()) await role.selectOption("you");
    await play.click();
    await page.waitForURL(/#\/match\//);
    if (!(await untilTurn(page))) throw new Error("it is over before the first move");
    const before = await page.locator(".status").textContent();
    await anyMove(page, random);
    // One of several people has chosen, or the step has been made.
    await Promise.race([untilStep(page, 1), page.waitForFunction((text) => document.querySelector(".status")?.textContent !== text, before)]);
    if (hasBoard) boards.push(sheet);
    else tables.push(`${sheet}: ${noBoardReason}`);
  } catch (fault) {
    const shown = await page.locator(".note.bad, .finding.error .finding-message, .status").allTextContents().catch(() => []);
    failed.push(`${sheet}: ${fault.message.split("\n")[0]} ${shown.join(" | ").slice(0, 200)}`);
  }
  if (page.faults.length > 0) failed.push(`${sheet}: ${page.faults.join("; ")}`);
  await page.context().close();
}
await session.stop();
console.log(`${boards.length} of ${boards.length + tables.length + failed.length} show a board`);
console.log(`a table instead:\n  ${tables.join("\n  ")}`);
console.log(`failed:\n  ${failed.join("\n  ")}`);
