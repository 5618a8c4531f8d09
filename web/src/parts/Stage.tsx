// The frame of every page with a position: the board with its seats on the left, panels on the right.

import type { ComponentChildren } from "preact";
import { Board, type Arrow } from "../board/Board";
import type { RoleColor } from "../board/colors";
import type { Facts, Layout, Move, Role, State } from "../types";
import { FactsView } from "./FactsView";
import { Swatch } from "./Swatch";

export interface SeatLine {
  role: number;
  title: string;
  name: string;
  status: string;
  isActive: boolean;
  goal: number | null;
  isWinner: boolean;
  time: string | null;
}

interface Props {
  title: string;
  layout: Layout;
  state: State;
  roles: Role[];
  colors: RoleColor[];
  seats: SeatLine[];
  moves: Move[];
  arrows: Arrow[];
  onMove: (move: Move) => void;
  isFlipped?: boolean;
  known?: ComponentChildren;
  below: ComponentChildren;
  side: ComponentChildren;
}

export function Stage(props: Props) {
  const { layout, state, roles, colors } = props;
  const hasBoard = layout.kind !== "none" && layout.cells.length > 0;
  return (
    <div class="stage">
      <div class="stage-main">
        <ul class={props.seats.length > 2 ? "seat-lines many" : "seat-lines"} aria-label="Seats">
          {props.seats.map((seat) => (
            <SeatRow key={seat.role} seat={seat} color={colors[seat.role]!} />
          ))}
        </ul>
        {hasBoard && (
          <div class="board-box">
            <Board
              layout={layout}
              pieces={state.pieces}
              colors={colors}
              title={`${props.title}, step ${state.step}`}
              moves={props.moves}
              last={state.last}
              arrows={props.arrows}
              onMove={props.onMove}
              isFlipped={props.isFlipped ?? false}
            />
          </div>
        )}
        <FactsView facts={state.facts.filter((fact) => !hasBoard || !tellsTurn(fact, state))} roles={roles} colors={colors} />
        {props.known}
        {props.below}
      </div>
      <div class="stage-side">{props.side}</div>
    </div>
  );
}

/** Whether a fact only says whose turn it is, which the seats show. */
function tellsTurn(fact: Facts, state: State): boolean {
  return fact.role !== null && fact.rows.length === 1 && state.turn.length === 1 && state.turn[0] === fact.role;
}

function SeatRow({ seat, color }: { seat: SeatLine; color: RoleColor }) {
  return (
    <li class={seat.isActive ? "seat-line active" : "seat-line"}>
      <Swatch color={color} />
      <span class="seat-text">
        <strong>{seat.title}</strong>
        <span class="muted"> {seat.name}</span>
      </span>
      <span class="seat-status">
        {seat.time && <span class="seat-time">{seat.time}</span>}
        {seat.status && <span class="small">{seat.status}</span>}
        {seat.goal !== null && <b class={seat.isWinner ? "goal winner" : "goal"}>{seat.goal}</b>}
      </span>
    </li>
  );
}
