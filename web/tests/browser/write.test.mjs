// The editor: the findings are those of `agon check`, fixes and formatting work, and the game can be played.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cliFindings, open, start } from "./harness.mjs";

let session;
before(async () => {
  session = await start();
});
after(() => session?.stop());

const broken = `(role robot)
(init (light off))
(<= (legal robot push) (true (light off)))
(<= (next (light ?new)) (does robot push))
(<= terminal (true (light on)))
(<= (goal robot won) (true (light on)))
(<= (goal robot 0) (true (lihgt off)))
`;

const shown = async (page) => {
  const all = await page.locator(".finding").evaluateAll((findings) =>
    findings.map((finding) => {
      const severity = finding.classList.contains("error") ? "error" : "warning";
      const { kind, line, column } = finding.dataset;
      return `${severity} ${kind} ${line}:${column} ${finding.querySelector(".finding-message").textContent}`;
    }),
  );
  return all.sort();
};

async function editor(rules) {
  const page = await open(session, "#/write");
  await page.locator(".cm-content").waitFor();
  await type(page, rules);
  return page;
}

/** Replaces the text by pasting, as typing closes brackets by itself. */
async function type(page, rules) {
  await page.locator(".cm-content").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(rules);
}

const untilFindings = (page, n) => page.waitForFunction((wanted) => document.querySelectorAll(".finding").length === wanted, n);

test("a broken sheet shows the findings of agon check at the same places", async () => {
  const expected = cliFindings(broken);
  assert.ok(expected.length >= 3, expected.join("\n"));
  const page = await editor(broken);
  await untilFindings(page, expected.length);
  assert.deepEqual(await shown(page), expected);
  assert.ok((await page.locator(".cm-lintRange").count()) > 0, "the text is underlined");
  // Another sheet, other findings: a bracket too many at the end.
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText(")");
  const next = cliFindings(`${broken})`);
  assert.notDeepEqual(next, expected);
  await page.locator(".finding", { hasText: "closes nothing" }).waitFor();
  await untilFindings(page, next.length);
  assert.deepEqual(await shown(page), next);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("a valid sheet is formatted, drawn, analysed and played", async () => {
  const page = await open(session, "#/write");
  await page.locator(".cm-content").waitFor();
  await page.getByText("can be played", { exact: true }).waitFor();
  await page.locator(".write-right .board-svg .cell").first().waitFor();
  const before = await page.locator(".cm-content").textContent();
  await page.getByRole("button", { name: "Format" }).click();
  await page.waitForFunction((old) => document.querySelector(".cm-content").textContent !== old, before);
  await page.getByText("can be played", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Analyse", exact: true }).click();
  await page.locator(".analysis-line").first().waitFor({ timeout: 40_000 });
  await page.getByRole("button", { name: "Play it" }).click();
  await page.waitForURL(/#\/new\/u-/);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.locator(".stage .cell").first().waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("a fix that is offered repairs its finding", async () => {
  const page = await editor(`${broken}(<= (spare ?lamp) (role ?lamp) (true (light ?state)))\n`);
  const finding = page.locator(".finding", { hasText: "?state" });
  await finding.first().waitFor();
  await finding.getByRole("button", { name: /^(?!.*\[).+/ }).last().click();
  await page.waitForFunction(() => ![...document.querySelectorAll(".finding")].some((found) => found.textContent.includes("`?state`")));
  assert.match(await page.locator(".cm-content").innerText(), /\?_/);
  await page.context().close();
});

test("the pointer on a relation tells what it is", async () => {
  const page = await open(session, "#/write");
  await page.getByText("can be played", { exact: true }).waitFor();
  await page.locator(".cm-line", { hasText: "(mark left)" }).hover({ position: { x: 22, y: 8 } });
  await page.locator(".hover strong").waitFor();
  await page.context().close();
});

test("the draft is there after the page was closed", async () => {
  const page = await editor("; my own draft\n(role me)\n");
  await page.waitForTimeout(300);
  await page.reload();
  await page.getByText("; my own draft").waitFor();
  await page.context().close();
});
