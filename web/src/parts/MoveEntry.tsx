// Moves by text: the list of legal moves with a filter, which is the keyboard entry at the same time.

import { useState } from "preact/hooks";
import type { Move } from "../types";

interface Props {
  moves: Move[];
  roleTitle: string;
  /** Called with a legal move, or with a text that the server shall read. */
  onMove: (move: Move | string) => void;
  isBoardPlayable: boolean;
}

const MOST = 60;

/** The moves that fit what has been typed; an exact one first. */
export function fitting(moves: Move[], text: string): Move[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return moves;
  const isExact = (move: Move) => move.text.toLowerCase() === wanted || move.kif.toLowerCase() === wanted;
  const exact = moves.filter(isExact);
  const begins = moves.filter((move) => !isExact(move) && move.text.toLowerCase().startsWith(wanted));
  const holds = moves.filter(
    (move) =>
      !isExact(move) &&
      !begins.includes(move) &&
      (move.text.toLowerCase().includes(wanted) || move.kif.toLowerCase().includes(wanted)),
  );
  return [...exact, ...begins, ...holds];
}

export function MoveEntry({ moves, roleTitle, onMove, isBoardPlayable }: Props) {
  const [text, setText] = useState("");
  const shown = fitting(moves, text);
  const enter = () => {
    if (text.trim() === "") return;
    const exact = shown.filter((move) => move.text.toLowerCase() === text.trim().toLowerCase());
    const choice = exact.length === 1 ? exact[0]! : shown.length === 1 ? shown[0]! : text.trim();
    setText("");
    onMove(choice);
  };
  const offBoard = moves.filter((move) => move.to === null);
  return (
    <div class="move-entry stack">
      {isBoardPlayable && offBoard.length > 0 && offBoard.length < moves.length && offBoard.length <= 12 && (
        <div class="row" role="group" aria-label="Moves that are not on the board">
          {offBoard.map((move) => (
            <button key={move.id} type="button" class="button small" onClick={() => onMove(move)}>
              {move.text}
            </button>
          ))}
        </div>
      )}
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          enter();
        }}
      >
        <input
          class="input grow"
          type="text"
          autocomplete="off"
          spellcheck={false}
          aria-label={`Type a move for ${roleTitle}`}
          placeholder={`Type a move for ${roleTitle}`}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="button" disabled={text.trim() === ""}>
          Play
        </button>
      </form>
      <details open={!isBoardPlayable}>
        <summary class="small">
          {shown.length} legal {shown.length === 1 ? "move" : "moves"}
        </summary>
        <ul class="legal-list" aria-label="Legal moves">
          {shown.slice(0, MOST).map((move) => (
            <li key={move.id}>
              <button type="button" class="button small legal-move" title={move.kif} onClick={() => onMove(move)}>
                {move.text}
              </button>
            </li>
          ))}
        </ul>
        {shown.length > MOST && <p class="small muted">and {shown.length - MOST} more; type to narrow them down</p>}
      </details>
    </div>
  );
}
