// A position with everything around it: the board, the entry of moves, and panels with the moves so far, the search and links.
// A match and a position to look at differ only in what they put here.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Arrow } from "../board/Board";
import type { RoleColor } from "../board/colors";
import type { Layout, Move, Role, State, Step } from "../types";
import { titleOf } from "../words";
import { History, Stepper } from "./History";
import { MoveEntry } from "./MoveEntry";
import { Stage, type SeatLine } from "./Stage";
import { Swatch } from "./Swatch";
import { Tabs } from "./Tabs";
import { ValueGraph } from "./ValueGraph";

interface Props {
  title: string;
  layout: Layout;
  state: State;
  roles: Role[];
  colors: RoleColor[];
  seats: SeatLine[];
  /** The role that chooses now, and what it may choose. */
  mine: number | null;
  moves: Move[];
  /** Whether the page chooses for several roles, so that it must say for which. */
  isShared: boolean;
  onMove: (move: Move | string) => void;
  arrows: Arrow[];
  /** Whether the board is seen from the other side at first. */
  isOpposite?: boolean;
  history: Step[];
  step: number;
  last: number;
  onStep: (step: number) => void;
  tab: string;
  onTab: (tab: string) => void;
  label: string;
  /** What roles have seen, where something is hidden. */
  known?: ComponentChildren;
  search: ComponentChildren;
  share: ComponentChildren;
}

export function Table(props: Props) {
  const { roles, colors, mine, moves, history, step, onStep } = props;
  const [isFlipped, setFlipped] = useState(props.isOpposite ?? false);
  const flip = props.layout.cells.length > 0 ? { onFlip: () => setFlipped(!isFlipped) } : {};
  return (
    <Stage
      title={props.title}
      layout={props.layout}
      state={props.state}
      roles={roles}
      colors={colors}
      seats={props.seats}
      moves={moves}
      arrows={props.arrows}
      onMove={props.onMove}
      isFlipped={isFlipped}
      known={props.known}
      below={<Stepper step={step} last={props.last} onStep={onStep} {...flip} />}
      side={
        <>
          {mine !== null && (
            <section class="card" aria-label={`Moves of ${titleOf(roles, mine)}`}>
              {props.isShared && (
                <p class="row small">
                  <Swatch color={colors[mine]!} />
                  <strong>{titleOf(roles, mine)} chooses</strong>
                </p>
              )}
              <MoveEntry moves={moves} roleTitle={titleOf(roles, mine)} onMove={props.onMove} isBoardPlayable={moves.some((move) => move.to !== null)} />
            </section>
          )}
          <section class="card">
            <Tabs
              label={props.label}
              current={props.tab}
              onSelect={props.onTab}
              tabs={[
                {
                  id: "moves",
                  title: "Moves",
                  body: (
                    <div class="stack">
                      <History history={history} colors={colors} step={step} onStep={onStep} />
                      <ValueGraph history={history} roles={roles} colors={colors} step={step} onStep={onStep} />
                    </div>
                  ),
                },
                { id: "search", title: "Search", body: props.search },
                { id: "more", title: "Share", body: props.share },
              ]}
            />
          </section>
        </>
      }
    />
  );
}
