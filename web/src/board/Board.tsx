// The board of any game as SVG: cells, pieces, marks of the last move and of legal targets, arrows of a search. Works with
// mouse, pen, touch and keyboard, and tells a screen reader what stands where.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { geometryOf, neighbour, UNIT, type Geometry } from "./geometry";
import { lookOf } from "./look";
import { nothingPicked, pick, targets, type Picking } from "./pick";
import { Piece as PieceDrawing, TraitPiece } from "./pieces";
import { inkOn, type RoleColor } from "./colors";
import type { Layout, MadeMove, Move, Piece } from "../types";

export interface Arrow {
  from: number | null;
  to: number;
  /** How strong it is drawn, 0 to 1. */
  weight: number;
  text?: string;
}

export interface BoardProps {
  layout: Layout;
  pieces: Piece[];
  colors: RoleColor[];
  title: string;
  /** The moves that a click can make; none for a board to look at. */
  moves?: Move[];
  last?: MadeMove[] | null;
  arrows?: Arrow[];
  onMove?: (move: Move) => void;
  /** Seen from the other side. */
  isFlipped?: boolean;
  /** A small picture without labels and without focus. */
  isPicture?: boolean;
}

const HEX_RADIUS = UNIT / Math.sqrt(3);

const hexPoints = (x: number, y: number, radius: number) =>
  Array.from({ length: 6 }, (_, idx) => {
    const angle = (Math.PI / 3) * idx - Math.PI / 2;
    return `${(x + radius * Math.cos(angle)).toFixed(1)},${(y + radius * Math.sin(angle)).toFixed(1)}`;
  }).join(" ");

export function Board(props: BoardProps) {
  const { layout, pieces, colors, isPicture = false, arrows = [], last = null } = props;
  const moves = props.moves ?? [];
  const isFlipped = props.isFlipped ?? false;
  const geometry = useMemo(() => geometryOf(layout, isFlipped), [layout, isFlipped]);
  const theme = themeOf(layout, pieces);
  // A race track would be a thin line: it gets cells of a readable size, and a bar to scroll.
  const isLong = !isPicture && geometry.width > 16 * UNIT && geometry.width > 5 * geometry.height;
  const [picking, setPicking] = useState<Picking>(nothingPicked);
  const [focus, setFocus] = useState(0);
  const [drag, setDrag] = useState<{ cell: number; dx: number; dy: number } | null>(null);
  const press = useRef<{ cell: number; x: number; y: number; wasSelected: boolean } | null>(null);
  // Arrow keys walk over the board for people who came by keyboard; after a click they step through the match.
  const isPointed = useRef(false);
  const pointedAt = useRef(-Infinity);
  const svg = useRef<SVGSVGElement>(null);
  // A new state begins with nothing picked. The same state may come again from the server; what is picked then stays.
  const key = [...moves.map((move) => move.id), ...(last ?? []).map((move) => move.kif)].join(" ");
  useEffect(() => {
    setPicking(nothingPicked);
    setDrag(null);
  }, [key]);
  useSlide(svg, geometry, last);

  const shown = targets(moves, picking);
  const byCell = useMemo(() => piecesByCell(pieces), [pieces]);
  const activate = (cell: number, from: Picking = picking) => {
    const picked = pick(layout, pieces, moves, from, cell);
    setPicking(picked.picking);
    if (picked.move) props.onMove?.(picked.move);
  };

  const cellAt = (event: PointerEvent): number | null => {
    const element = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-cell]");
    return element && svg.current?.contains(element) ? Number(element.getAttribute("data-cell")) : null;
  };
  const onPointerDown = (event: PointerEvent) => {
    isPointed.current = true;
    pointedAt.current = event.timeStamp;
    if (event.button !== 0) return;
    const cell = cellAt(event);
    if (cell === null) return;
    // A press counts although the moves come only before its release.
    press.current = { cell, x: event.clientX, y: event.clientY, wasSelected: picking.selected === cell };
    if (shown.sources.has(cell) && picking.selected !== cell && !shown.targets.has(cell)) activate(cell);
  };
  const onPointerMove = (event: PointerEvent) => {
    const start = press.current;
    if (!start || event.pointerType === "touch" || !shown.sources.has(start.cell)) return;
    const box = svg.current!.getBoundingClientRect();
    const scale = geometry.width / box.width;
    const dx = (event.clientX - start.x) * scale;
    const dy = (event.clientY - start.y) * scale;
    if (drag || Math.hypot(dx, dy) > 12) setDrag({ cell: start.cell, dx, dy });
  };
  const onPointerUp = (event: PointerEvent) => {
    const start = press.current;
    press.current = null;
    const wasDrag = drag !== null;
    setDrag(null);
    const cell = cellAt(event);
    if (!start || cell === null) return;
    if (cell !== start.cell) {
      if (wasDrag && picking.selected === start.cell) activate(cell);
      return;
    }
    // The first press on a piece has selected it already.
    if (picking.selected === cell && !start.wasSelected) return;
    activate(cell);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const direction = isPointed.current ? undefined : arrowKeys[event.key];
    if (direction) {
      event.preventDefault();
      const next = neighbour(geometry.spots, focus, direction);
      setFocus(next);
      svg.current?.querySelector<SVGElement>(`[data-cell="${next}"]`)?.focus();
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      activate(focus);
    } else if (event.key === "Escape") {
      setPicking(nothingPicked);
    }
  };

  const lastCells = new Set((last ?? []).flatMap((move) => [move.from, move.to].filter((cell) => cell !== null)));
  const interactive = !isPicture;
  const view = isPicture ? pictureView(geometry) : `0 0 ${geometry.width} ${geometry.height}`;
  const cellProps = (cell: number): Record<string, unknown> =>
    interactive
      ? {
          tabIndex: cell === focus ? 0 : -1,
          role: "button",
          "aria-label": cellText(layout, byCell.get(cell) ?? [], cell, shown, picking),
          "aria-pressed": picking.selected === cell,
          "aria-disabled": !shown.sources.has(cell) && !shown.targets.has(cell),
          onFocus: (event: FocusEvent) => {
            isPointed.current = event.timeStamp - pointedAt.current < 300;
            setFocus(cell);
          },
        }
      : {};

  return (
    <div class={`board board-${theme}${isLong ? " long" : ""}`}>
      <svg
        ref={svg}
        viewBox={view}
        role={isPicture ? "img" : "group"}
        aria-label={props.title}
        style={isPicture ? undefined : isLong ? { width: `max(100%, ${((geometry.width / UNIT) * 1.6).toFixed(1)}rem)` } : { maxWidth: `${((geometry.width / UNIT) * 8.5).toFixed(1)}rem` }}
        class={interactive && moves.length > 0 ? "board-svg active" : "board-svg"}
        onPointerDown={interactive ? onPointerDown : undefined}
        onPointerMove={interactive ? onPointerMove : undefined}
        onPointerUp={interactive ? onPointerUp : undefined}
        onPointerCancel={() => ((press.current = null), setDrag(null))}
        onKeyDown={interactive ? onKeyDown : undefined}
      >
        <Frames geometry={geometry} isPicture={isPicture} />
        {geometry.spots.map((spot) => {
          const cell = layout.cells[spot.cell]!;
          const classes = ["cell", cell.tone === 1 ? "dark" : "light"];
          if (lastCells.has(spot.cell)) classes.push("last");
          if (picking.selected === spot.cell) classes.push("selected");
          if (shown.sources.has(spot.cell)) classes.push("source");
          return (
            <g key={spot.cell} data-cell={spot.cell} data-name={cell.name} class={classes.join(" ")} {...cellProps(spot.cell)}>
              <CellShape geometry={geometry} x={spot.x} y={spot.y} />
              {shown.targets.has(spot.cell) && interactive && (
                <Target x={spot.x} y={spot.y} isFilled={byCell.has(spot.cell)} isFaint={shown.targets.size > 14} />
              )}
            </g>
          );
        })}
        <g class="pieces">
          {[...pieces]
            .sort((one, two) => one.layer - two.layer)
            .map((piece, idx) => (
              <PlacedPiece
                key={`${piece.cell} ${piece.layer} ${piece.name} ${idx}`}
                piece={piece}
                geometry={geometry}
                colors={colors}
                offset={drag?.cell === piece.cell ? drag : null}
              />
            ))}
        </g>
        {arrows.length > 0 && <Arrows arrows={arrows} geometry={geometry} />}
        {!isPicture && <Labels geometry={geometry} />}
      </svg>
      {picking.pending.length > 1 && (
        <Chooser
          moves={picking.pending}
          onChoose={(move) => {
            setPicking(nothingPicked);
            props.onMove?.(move);
          }}
          onCancel={() => setPicking(nothingPicked)}
        />
      )}
    </div>
  );
}

const arrowKeys: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** A chessboard, a felt for black and white discs, or plain cells. */
function themeOf(layout: Layout, pieces: Piece[]): string {
  const isChess = ["king", "queen", "rook", "bishop", "knight", "pawn", "man", "crown"];
  if (layout.kind === "hex") return "plain";
  if (pieces.some((piece) => isChess.includes(piece.shape))) return "checkered";
  const isBlackAndWhite = (piece: Piece) => piece.shape === "disc" && /\b(black|white)\b/i.test(piece.name);
  return pieces.length > 0 && pieces.every(isBlackAndWhite) ? "felt" : "plain";
}

function piecesByCell(pieces: Piece[]): Map<number, Piece[]> {
  const map = new Map<number, Piece[]>();
  for (const piece of pieces) map.set(piece.cell, [...(map.get(piece.cell) ?? []), piece]);
  return map;
}

function pictureView(geometry: Geometry): string {
  const left = Math.min(...geometry.spots.map((spot) => spot.x)) - UNIT * 0.62;
  const top = Math.min(...geometry.spots.map((spot) => spot.y)) - UNIT * 0.62;
  const right = Math.max(...geometry.spots.map((spot) => spot.x)) + UNIT * 0.62;
  const bottom = Math.max(...geometry.spots.map((spot) => spot.y)) + UNIT * 0.62;
  return `${left} ${top} ${right - left} ${bottom - top}`;
}

function cellText(layout: Layout, pieces: Piece[], cell: number, shown: ReturnType<typeof targets>, picking: Picking): string {
  const what = pieces.length === 0 ? "empty" : pieces.map((piece) => piece.title).join(", ");
  const name = layout.cells[cell]!.name;
  if (picking.selected === cell) return `${name}: ${what}, selected`;
  if (shown.targets.has(cell)) return `${name}: ${what}, possible move`;
  if (shown.sources.has(cell)) return `${name}: ${what}, can move`;
  return `${name}: ${what}`;
}

function Frames({ geometry, isPicture }: { geometry: Geometry; isPicture: boolean }) {
  return (
    <g class="frames">
      {geometry.frames.map((frame, idx) => (
        <g key={idx}>
          {!geometry.isHex && (
            <rect x={frame.x - 3} y={frame.y - 3} width={frame.width + 6} height={frame.height + 6} rx="7" />
          )}
          {frame.title !== null && !isPicture && (
            <text class="part-title" font-size={geometry.font} x={frame.x + frame.width / 2} y={frame.y - geometry.font / 2 - 4}>
              {frame.title}
            </text>
          )}
        </g>
      ))}
    </g>
  );
}

function CellShape({ geometry, x, y }: { geometry: Geometry; x: number; y: number }) {
  if (geometry.isHex) return <polygon class="ground" points={hexPoints(x, y, HEX_RADIUS - 1.5)} />;
  return <rect class="ground" x={x - UNIT / 2} y={y - UNIT / 2} width={UNIT} height={UNIT} />;
}

function Target({ x, y, isFilled, isFaint }: { x: number; y: number; isFilled: boolean; isFaint: boolean }) {
  return <circle class={isFaint ? "target faint" : "target"} cx={x} cy={y} r={isFilled ? 43 : isFaint ? 8 : 13} data-filled={isFilled} />;
}

function PlacedPiece(props: { piece: Piece; geometry: Geometry; colors: RoleColor[]; offset: { dx: number; dy: number } | null }) {
  const { piece, geometry, offset } = props;
  const spot = geometry.spots[piece.cell];
  if (!spot) return null;
  const scale = geometry.isHex ? 0.86 : 1;
  const x = spot.x - (UNIT / 2) * scale + (offset?.dx ?? 0);
  const y = spot.y - (UNIT / 2) * scale + (offset?.dy ?? 0);
  return (
    <g class="piece" data-piece={piece.cell} transform={`translate(${x} ${y}) scale(${scale})`}>
      <LookDrawing piece={piece} colors={props.colors} />
    </g>
  );
}

export function LookDrawing({ piece, colors }: { piece: Piece; colors: RoleColor[] }) {
  const look = lookOf(piece, colors);
  switch (look.as) {
    case "piece":
      return <PieceDrawing name={look.name} paint={look.paint} />;
    case "traits":
      return <TraitPiece traits={look.traits} paint={look.paint} />;
    case "text":
      return (
        <g class="tile">
          {look.paint && (
            <rect x="12" y="12" width="76" height="76" rx="14" fill={look.paint.fill} stroke={look.paint.line} stroke-width="3" />
          )}
          <text
            class={look.paint ? "tile-text" : "tile-text bare"}
            x="50"
            y="53"
            fill={look.paint ? inkOn(look.paint.fill) : undefined}
            font-size={look.text.length > 2 ? 34 : look.text.length > 1 ? 44 : 52}
          >
            {look.text}
          </text>
        </g>
      );
  }
}

function Labels({ geometry }: { geometry: Geometry }) {
  return (
    <g class="labels" aria-hidden="true" font-size={geometry.font}>
      {geometry.labels.map((label, idx) => (
        <text key={idx} x={label.x} y={label.y} font-size={label.font}>
          {label.text}
        </text>
      ))}
    </g>
  );
}

function Arrows({ arrows, geometry }: { arrows: Arrow[]; geometry: Geometry }) {
  return (
    <g class="arrows" aria-hidden="true">
      {[...arrows].reverse().map((arrow, idx) => {
        const to = geometry.spots[arrow.to];
        const from = arrow.from === null ? null : geometry.spots[arrow.from];
        if (!to) return null;
        const opacity = 0.25 + 0.6 * arrow.weight;
        if (!from || from === to) {
          return <circle key={idx} cx={to.x} cy={to.y} r={40} class="arrow-ring" stroke-width={4 + 6 * arrow.weight} opacity={opacity} />;
        }
        const length = Math.hypot(to.x - from.x, to.y - from.y);
        const ux = (to.x - from.x) / length;
        const uy = (to.y - from.y) / length;
        const width = 7 + 11 * arrow.weight;
        const head = 22 + 12 * arrow.weight;
        const bx = to.x - ux * (head + 8);
        const by = to.y - uy * (head + 8);
        const points = [
          [from.x + ux * 20 - uy * width * 0.5, from.y + uy * 20 + ux * width * 0.5],
          [bx - uy * width * 0.5, by + ux * width * 0.5],
          [bx - uy * head * 0.62, by + ux * head * 0.62],
          [to.x - ux * 8, to.y - uy * 8],
          [bx + uy * head * 0.62, by - ux * head * 0.62],
          [bx + uy * width * 0.5, by - ux * width * 0.5],
          [from.x + ux * 20 + uy * width * 0.5, from.y + uy * 20 - ux * width * 0.5],
        ];
        return <polygon key={idx} class="arrow" opacity={opacity} points={points.map((point) => point.map((n) => n.toFixed(1)).join(",")).join(" ")} />;
      })}
    </g>
  );
}

function Chooser(props: { moves: Move[]; onChoose: (move: Move) => void; onCancel: () => void }) {
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus(), []);
  return (
    <div
      class="chooser"
      role="dialog"
      aria-label="Which move?"
      onKeyDown={(event) => {
        if (event.key === "Escape") props.onCancel();
      }}
    >
      <p class="label">Which move?</p>
      <div class="chooser-moves">
        {props.moves.map((move, idx) => (
          <button key={move.id} type="button" class="button small" ref={idx === 0 ? first : undefined} onClick={() => props.onChoose(move)}>
            {move.text}
          </button>
        ))}
      </div>
      <button type="button" class="button small quiet" onClick={props.onCancel}>
        Cancel
      </button>
    </div>
  );
}

/** The piece that has moved slides to its cell. */
function useSlide(svg: { current: SVGSVGElement | null }, geometry: Geometry, last: MadeMove[] | null) {
  const previous = useRef<MadeMove[] | null>(last);
  useEffect(() => {
    if (previous.current === last) return;
    previous.current = last;
    const isStill = window.matchMedia?.("(prefers-reduced-motion: reduce)").matches;
    if (isStill) return;
    for (const move of last ?? []) {
      if (move.from === null || move.to === null || move.from === move.to) continue;
      const from = geometry.spots[move.from];
      const to = geometry.spots[move.to];
      if (!from || !to) continue;
      for (const piece of svg.current?.querySelectorAll<SVGGElement>(`[data-piece="${move.to}"]`) ?? []) {
        const place = piece.getAttribute("transform") ?? "";
        const inner = piece.firstElementChild;
        if (place === "" || !inner?.animate) continue;
        inner.animate(
          [{ transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)` }, { transform: "none" }],
          { duration: 180, easing: "ease-out" },
        );
      }
    }
  }, [last, geometry]);
}
