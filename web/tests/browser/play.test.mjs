// Games played to the end by mouse against a real server.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { anyMove, begin, click, drag, ending, generator, open, playOn, report, start, step, untilStep, untilTurn } from "./harness.mjs";

let session;
before(async () => {
  session = await start();
});
after(() => session?.stop());

/** A test with a page of its own, which must not have any fault at its end. */
function browserTest(name, act) {
  test(name, async () => {
    const page = await open(session);
    try {
      await act(page);
      assert.deepEqual(page.faults, []);
    } catch (fault) {
      await report(page, name, session);
      throw fault;
    } finally {
      await page.context().close();
    }
  });
}

/** Clicks cells, one decision after the other. */
async function script(page, decisions) {
  for (const cells of decisions) {
    assert.ok(await untilTurn(page), `the match goes on before ${cells}`);
    const before = await step(page);
    for (const cell of cells) await click(page, cell);
    await untilStep(page, before + 1);
  }
}

const over = async (page, text) => {
  await ending(page).waitFor();
  assert.match(await ending(page).textContent(), text);
};

browserTest("Tic-Tac-Toe: two people at one screen, X wins", async (page) => {
  await begin(page, session, "tic_tac_toe", { X: "You", O: "You" });
  await script(page, [["1 1"], ["1 2"], ["2 2"], ["1 3"], ["3 3"]]);
  await over(page, /X wins/);
  assert.equal(await page.locator(".goal.winner").textContent(), "100");
});

browserTest("Tic-Tac-Toe against Agon, with undo, hint and a typed move", async (page) => {
  await begin(page, session, "tic_tac_toe");
  await untilTurn(page);
  await page.getByRole("button", { name: "Hint" }).click();
  await page.getByText(/Agon would play/).waitFor();
  await page.locator(".arrow-ring").first().waitFor();
  await page.getByLabel(/Type a move/).fill("(mark 1 1)");
  await page.keyboard.press("Enter");
  await untilStep(page, 2);
  await untilTurn(page);
  await page.getByRole("button", { name: "Take back" }).click();
  await page.waitForFunction(() => document.querySelector(".stepper-text")?.textContent?.trim() === "0 / 0");
  assert.equal(await page.locator(".pieces .piece").count(), 0);
  await playOn(page);
  await over(page, /./);
});

browserTest("a click counts as soon as the page says so, also before the server has answered the last one", async (page) => {
  await page.route("**/api/matches/*/move", async (route) => {
    const answer = await route.fetch();
    await new Promise((done) => setTimeout(done, 700));
    await route.fulfill({ response: answer });
  });
  await begin(page, session, "tic_tac_toe", { X: "You", O: "You" });
  await script(page, [["1 1"], ["1 2"], ["2 2"], ["1 3"], ["3 3"]]);
  await over(page, /X wins/);
  // The end may be seen before the last answer has come.
  await page.unrouteAll({ behavior: "wait" });
});

browserTest("what is picked stays picked when the same position comes again", async (page) => {
  let token = "";
  page.on("request", (request) => (token = request.headers()["agon-token"] ?? token));
  await begin(page, session, "chess", { White: "You", Black: "You" });
  await script(page, [["e 2", "e 4"]]);
  await untilTurn(page);
  await click(page, "e 7");
  const again = page.waitForResponse(/api\/matches\/[0-9a-f]+$/);
  const body = JSON.stringify({ pace: 1 });
  const path = `/api/matches/${/match\/([0-9a-f]+)/.exec(page.url())[1]}/control`;
  const status = await page.evaluate(
    async ([path, body, token]) => (await fetch(path, { method: "POST", headers: { "Content-Type": "application/json", "Agon-Token": token }, body })).status,
    [path, body, token],
  );
  assert.equal(status, 200);
  await again;
  await page.waitForTimeout(100);
  await click(page, "e 5");
  await untilStep(page, 2);
});

browserTest("Connect Four: a click anywhere in a column drops a disc", async (page) => {
  await begin(page, session, "connect_four", { Red: "You", Black: "You" });
  await script(page, [["1 6"], ["2 6"], ["1 6"], ["2 6"], ["1 5"], ["2 6"], ["1 6"]]);
  await over(page, /Red wins/);
});

browserTest("Chess: castling, promotion and mate, by click and by drag", async (page) => {
  await begin(page, session, "chess", { White: "You", Black: "You" });
  const moves = "e2e4 d7d5 e4d5 c7c6 d5c6 h7h6 c6b7 h6h5 b7a8 h5h4 g1f3 h4h3 f1b5 c8d7 e1g1 h8h7 a8b8 d8c8 b8c8".split(" ");
  for (const [idx, move] of moves.entries()) {
    await untilTurn(page);
    const [from, to] = [`${move[0]} ${move[1]}`, `${move[2]} ${move[3]}`];
    if (idx % 3 === 0) {
      await drag(page, from, to);
    } else {
      await click(page, from);
      await click(page, to);
    }
    if (move === "b7a8") {
      await page.getByRole("dialog", { name: "Which move?" }).getByRole("button", { name: /queen/ }).click();
    }
    await untilStep(page, idx + 1);
    if (move === "e1g1") {
      // The rook has moved with the king.
      await page.getByRole("button", { name: "f 1: White rook" }).waitFor();
      await page.getByRole("button", { name: "g 1: White king" }).waitFor();
    }
  }
  await over(page, /White wins/);
});

browserTest("Othello to the last disc", async (page) => {
  await begin(page, session, "othello_6x6", { Black: "You", White: "You" });
  assert.ok((await playOn(page, 7)) > 20);
  await over(page, /wins|over/);
});

browserTest("Hex: a chain of stones on hexagons", async (page) => {
  await begin(page, session, "hex", { Red: "You", Blue: "You" });
  const rows = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  // Red and Blue each build a straight chain of their own; whichever direction wins, Red is first.
  const across = rows.flatMap((n) => [[`${n} 5`], [`${n} 7`]]);
  const upright = rows.flatMap((n) => [[`5 ${n}`], [`7 ${n}`]]);
  await script(page, across.slice(0, 17));
  if ((await ending(page).count()) === 0) {
    await begin(page, session, "hex", { Red: "You", Blue: "You" });
    await script(page, upright.slice(0, 17));
  }
  await over(page, /Red wins/);
});

browserTest("Chinese Checkers for three, against two of Agon", async (page) => {
  await begin(page, session, "chinese_checkers_3");
  assert.equal(await page.locator(".seat-line").count(), 3);
  await playOn(page, 3);
  await over(page, /./);
});

browserTest("Goofspiel: choices are covered until all have chosen", async (page) => {
  await begin(page, session, "goofspiel", { Right: "Another person, by link" });
  await page.getByRole("tab", { name: "Share" }).click();
  const link = await page.getByLabel("Link: Play Right").inputValue();
  const guest = await open(session);
  await guest.goto(link);
  await guest.locator(".stage").waitFor();
  await untilTurn(page);
  await untilTurn(guest);
  assert.ok(!guest.url().includes("seat="), "the address no longer shows the token");
  await page.locator(".legal-move", { hasText: /^6$/ }).click();
  await page.getByText("covered until all have chosen").waitFor();
  await guest.locator(".seat-line", { hasText: "has chosen" }).waitFor();
  // Nothing tells the guest what was chosen.
  assert.equal(await guest.locator(".history-step").count(), 0);
  await guest.locator(".legal-move", { hasText: /^1$/ }).click();
  await untilStep(page, 1);
  await untilStep(guest, 1);
  await Promise.all([playOn(page, 5), playOn(guest, 6)]);
  await over(page, /./);
  await over(guest, /./);
  assert.deepEqual(guest.faults, []);
  await guest.context().close();
});

browserTest("Sokoban is solved with clicks on the next cell", async (page) => {
  await begin(page, session, "sokoban");
  const cells =
    "5 3,5 4,5 5,4 5,3 5,3 4,3 3,3 2,3 1,4 1,5 1,5 2,4 2,3 2,3 3,3 4,3 5,4 5,5 5,5 4,6 4,6 3,5 3,4 3,5 3,5 4,5 5,4 5,3 5,3 4,3 3,3 2,4 2,4 1,3 1";
  await script(page, cells.split(",").map((cell) => [cell]));
  await over(page, /Keeper/);
  assert.equal(await page.locator(".goal").textContent(), "100");
});

browserTest("Tic-Tac-Toe in a cube: a line through all layers", async (page) => {
  await begin(page, session, "tic_tac_toe_3d", { X: "You", O: "You" });
  const cells = await page.locator(".board-svg [data-name]").evaluateAll((all) => all.map((cell) => cell.dataset.name));
  assert.equal(cells.length, 64);
  // A cell is named by its layer, its column and its row.
  const of = (layer, column, row) => [`${layer} ${column} ${row}`];
  await script(page, [of(1, 1, 1), of(1, 2, 1), of(2, 1, 1), of(2, 2, 1), of(3, 1, 1), of(3, 2, 1), of(4, 1, 1)]);
  await over(page, /X wins/);
});

browserTest("a match that was resigned says so, and one can be watched and replayed", async (page) => {
  await begin(page, session, "tic_tac_toe");
  await untilTurn(page);
  await click(page, "2 2");
  await untilStep(page, 2);
  await page.getByRole("button", { name: "Resign" }).click();
  await page.getByRole("group", { name: "Resign?" }).getByRole("button", { name: "Resign" }).click();
  await over(page, /resign/i);
  const id = /match\/([0-9a-f]+)/.exec(page.url())[1];
  await page.goto(`${session.url}#/records`);
  await page.getByLabel("Address of a match").fill(id);
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await page.getByRole("button", { name: "Start", exact: true }).waitFor();
  assert.equal(await page.locator(".pieces .piece").count(), 0);
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.querySelectorAll(".pieces .piece").length === 1);
  await page.getByRole("tab", { name: "Search" }).click();
  await page.getByRole("button", { name: "Analyse this position" }).click();
  await page.locator(".bars tbody tr").first().waitFor();
  // A move on the board branches off.
  await click(page, "1 1");
  await page.getByRole("button", { name: "Back to the record" }).waitFor();
});

browserTest("two of Agon are watched, paused and stepped", async (page) => {
  await begin(page, session, "connect_four", { Red: "Agon" });
  await untilStep(page, 2);
  await page.locator(".bars tbody tr").first().waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused.").waitFor();
  await page.waitForTimeout(1500);
  const paused = await step(page);
  await page.getByRole("button", { name: "One step" }).click();
  await untilStep(page, paused + 1);
  await page.getByLabel("Speed").selectOption("0");
  await page.getByRole("button", { name: "Go on" }).click();
  await over(page, /./);
  await page.getByRole("tab", { name: "Moves" }).click();
  await page.locator(".value-graph .graph-line").first().waitFor();
});

browserTest("Kuhn poker: each person sees the own card, and the other one when it is over", async (page) => {
  await begin(page, session, "kuhn_poker", { Ben: "Another person, by link" });
  await page.getByRole("tab", { name: "Share" }).click();
  const guest = await open(session);
  await guest.goto(await page.getByLabel("Link: Play Ben").inputValue());
  const stranger = await open(session, `#/match/${/match\/([0-9a-f]+)/.exec(page.url())[1]}`);
  await untilTurn(page);
  const card = async (of) => /card (\w+)/.exec(await of.locator(".known").innerText())?.[1];
  await guest.locator(".known").waitFor();
  const [ann, ben] = [await card(page), await card(guest)];
  assert.ok(ann && ben && ann !== ben, `${ann} and ${ben}`);
  for (const [seen, hidden] of [[page, ben], [guest, ann], [stranger, ann], [stranger, ben]]) {
    assert.ok(!(await seen.locator("main").innerText()).includes(hidden), `${hidden} is hidden`);
  }
  for (const name of ["Take back", "Hint"]) assert.equal(await page.getByRole("button", { name }).count(), 0);
  await page.locator(".legal-move", { hasText: /^bet$/ }).click();
  await untilTurn(guest);
  await guest.locator(".legal-move", { hasText: /^call$/ }).click();
  for (const seen of [page, guest, stranger]) {
    await ending(seen).waitFor();
    const shown = await seen.locator("main").innerText();
    assert.ok(shown.includes(ann) && shown.includes(ben), "all is told at the end");
    assert.deepEqual(seen.faults, []);
  }
  await guest.context().close();
  await stranger.context().close();
});

browserTest("backgammon with dice, battleship and Mastermind against Agon by mouse", async (page) => {
  for (const [game, n] of [["backgammon", 4], ["battleship", 6], ["mastermind", 3]]) {
    await begin(page, session, game);
    const random = generator(4);
    for (let made = 0; made < n && (await untilTurn(page)); made++) {
      const before = await step(page);
      await anyMove(page, random);
      await untilStep(page, before + 1);
    }
    assert.ok((await step(page)) >= n, game);
  }
});
