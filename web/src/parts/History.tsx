// The moves of a match: a list to click on, and buttons to step back and forth.

import { useEffect, useRef } from "preact/hooks";
import type { RoleColor } from "../board/colors";
import type { Step } from "../types";
import { isIdle, shownMoves } from "../words";
import { Icon } from "./Icon";
import { Swatch } from "./Swatch";

interface Props {
  history: Step[];
  colors: RoleColor[];
  /** The step that is shown: 0 is the start. */
  step: number;
  onStep: (step: number) => void;
}

export function History({ history, colors, step, onStep }: Props) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const current = list.current?.querySelector<HTMLElement>('[aria-current="step"]');
    const box = list.current;
    if (!current || !box) return;
    const top = current.offsetTop - box.offsetTop;
    if (top < box.scrollTop || top + current.offsetHeight > box.scrollTop + box.clientHeight) {
      box.scrollTop = top - box.clientHeight / 2;
    }
  }, [step, history.length]);
  if (history.length === 0) return <p class="muted small">No move has been made.</p>;
  return (
    <ol class={history.some(isLong) ? "history long" : "history"} ref={list} aria-label="Moves">
      {history.map((made, idx) => (
        <li key={idx}>
          <button
            type="button"
            class="history-step"
            aria-current={step === idx + 1 ? "step" : undefined}
            onClick={() => onStep(idx + 1)}
          >
            <span class="history-number">{idx + 1}</span>
            {shownMoves(made).map((move) => (
              <span key={move.role} class="history-move">
                <Swatch color={colors[move.role]!} />
                {isIdle(move) ? <span class="muted">waits</span> : move.text}
              </span>
            ))}
            {made.errors.some((text) => text !== "") && (
              <span class="badge warn" title={made.errors.filter((text) => text !== "").join("; ")}>
                fault
              </span>
            )}
          </button>
        </li>
      ))}
    </ol>
  );
}

/** Whether a step needs a line of its own. */
function isLong(made: Step): boolean {
  const moves = shownMoves(made);
  return moves.reduce((n, move) => n + move.text.length + 3, 0) > 12;
}

export function Stepper({ step, last, onStep, onFlip }: { step: number; last: number; onStep: (step: number) => void; onFlip?: () => void }) {
  const button = (icon: "first" | "back" | "next" | "last", label: string, to: number) => (
    <button type="button" class="button quiet icon-button" aria-label={label} title={label} disabled={to === step} onClick={() => onStep(to)}>
      <Icon name={icon} />
    </button>
  );
  return (
    <div class="stepper" role="group" aria-label="Step through the match">
      {button("first", "Start", 0)}
      {button("back", "Back (left arrow)", Math.max(0, step - 1))}
      <span class="stepper-text" aria-live="polite">
        {step} / {last}
      </span>
      {button("next", "Forward (right arrow)", Math.min(last, step + 1))}
      {button("last", "End", last)}
      {onFlip && (
        <button type="button" class="button quiet icon-button" aria-label="Turn the board" title="Turn the board" onClick={onFlip}>
          <Icon name="flip" />
        </button>
      )}
    </div>
  );
}

/** Left and right arrows step, unless they are needed elsewhere. */
export function useArrowKeys(back: () => void, forth: () => void) {
  useEffect(() => {
    const act = (event: KeyboardEvent) => {
      const target = event.target as Element | null;
      if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
      if (target?.closest("input, textarea, select, [contenteditable], [role=tablist]")) return;
      if (event.key === "ArrowLeft") back();
      if (event.key === "ArrowRight") forth();
    };
    window.addEventListener("keydown", act);
    return () => window.removeEventListener("keydown", act);
  });
}
