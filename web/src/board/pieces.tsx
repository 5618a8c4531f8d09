// Our own drawings of pieces, each in a box of 100 by 100. Colours come from the caller as `Paint`, so that one drawing
// serves every role.

import type { JSX } from "preact";

export interface Paint {
  /** The body of the piece. */
  fill: string;
  /** Outlines and details. */
  line: string;
  /** A sign in the middle of discs, so that colours are not the only difference: an index, or none. */
  sign?: number;
}

type Drawing = (paint: Paint) => JSX.Element;

const outline = (paint: Paint) => ({
  fill: paint.fill,
  stroke: paint.line,
  "stroke-width": 3.2,
  "stroke-linejoin": "round" as const,
  "stroke-linecap": "round" as const,
});

const foot = <path d="M22 90h56v-5c0-6-4-9-10-9H32c-6 0-10 3-10 9z" />;

const pawn: Drawing = (paint) => (
  <g {...outline(paint)}>
    <path d="M50 20a14 14 0 0 1 8.6 25c6.6 1.6 7.8 7.4 2.4 9 1.6 10.5 5 16 11 22H28c6-6 9.4-11.5 11-22-5.4-1.6-4.2-7.4 2.4-9A14 14 0 0 1 50 20z" />
    {foot}
  </g>
);

const rook: Drawing = (paint) => (
  <g {...outline(paint)}>
    <path d="M27 18h11v8h7v-8h10v8h7v-8h11v19l-8 8v22l8 9H27l8-9V45l-8-8z" />
    <path d="M35 45h30M35 67h30" fill="none" />
    {foot}
  </g>
);

const knight: Drawing = (paint) => (
  <g {...outline(paint)}>
    <path d="M33 76c-1-15 5-21 15-30-7 3.5-13 2.5-17 7.5-2 3-6 4.5-9.5 2-3.8-2.6-4-6.8-1.7-10.3 3.7-5.7 7.2-9 9.2-16.2 1.2-4.5 4-7.5 8-9.500L36.5 10l10.5 7C66 18.5 77 33 76 55c-.3 8-1.3 14-3 21z" />
    <path d="M56 24c9 5 13 14 13 27" fill="none" stroke-width="2.6" />
    <circle cx="39.5" cy="31" r="2.6" fill={paint.line} stroke="none" />
    <circle cx="25" cy="49.5" r="1.7" fill={paint.line} stroke="none" />
    {foot}
  </g>
);

const bishop: Drawing = (paint) => (
  <g {...outline(paint)}>
    <path d="M50 20c11 8 18 18 18 28.500C68 56 63.5 60.5 59 63l4 13H37l4-13c-4.5-2.5-9-7-9-14.500C32 38 39 28 50 20z" />
    <circle cx="50" cy="15" r="5.5" />
    <path d="M57 32 47 45M40 63h20" fill="none" />
    {foot}
  </g>
);

const queen: Drawing = (paint) => (
  <g {...outline(paint)}>
    <path d="m20 34 11 31c12 5 26 5 38 0l11-31-15 17-3-26-12 23-12-23-3 26z" />
    <path d="M31 65c12 5 26 5 38 0l4 11H27z" />
    <circle cx="20" cy="31" r="4.5" />
    <circle cx="38" cy="21.5" r="4.5" />
    <circle cx="62" cy="21.5" r="4.5" />
    <circle cx="80" cy="31" r="4.5" />
    {foot}
  </g>
);

const king: Drawing = (paint) => (
  <g {...outline(paint)}>
    <path d="M50 31c5-9 29-10 29 7 0 12-8 16-10 27-12 5-26 5-38 0-2-11-10-15-10-27 0-17 24-16 29-7z" />
    <path d="M50 31v31" fill="none" stroke-width="2.6" />
    <path d="M31 65c12 5 26 5 38 0l4 11H27z" />
    <path d="M47 7h6v6h6v6h-6v9h-6v-9h-6v-6h6z" />
    {foot}
  </g>
);

/** Signs of discs: nothing, ring, cross, bar, dot, square. */
const sign = (paint: Paint): JSX.Element | null => {
  const line = { fill: "none", stroke: paint.line, "stroke-width": 5, "stroke-linecap": "round" as const, opacity: 0.75 };
  switch (paint.sign) {
    case 1:
      return <circle cx="50" cy="50" r="13" {...line} />;
    case 2:
      return <path d="M50 36v28M36 50h28" {...line} />;
    case 3:
      return <path d="M36 50h28" {...line} />;
    case 4:
      return <circle cx="50" cy="50" r="6" {...line} />;
    case 5:
      return <path d="M38 38h24v24H38z" {...line} />;
    case 6:
      return <path d="m38 38 24 24m0-24L38 62" {...line} />;
    default:
      return null;
  }
};

const disc: Drawing = (paint) => (
  <g>
    <circle cx="50" cy="50" r="38" fill={paint.fill} stroke={paint.line} stroke-width="3.2" />
    <path d="M22 42a30 30 0 0 1 22-20" fill="none" stroke="#fff" stroke-width="4" stroke-linecap="round" opacity=".35" />
    {sign(paint)}
  </g>
);

const man: Drawing = (paint) => (
  <g fill={paint.fill} stroke={paint.line} stroke-width="3.2">
    <circle cx="50" cy="50" r="38" />
    <circle cx="50" cy="50" r="28" opacity=".7" stroke-width="2.6" />
    <circle cx="50" cy="50" r="17" opacity=".7" stroke-width="2.6" />
  </g>
);

const crownedMan: Drawing = (paint) => (
  <g fill={paint.fill} stroke={paint.line} stroke-width="3.2" stroke-linejoin="round">
    <circle cx="50" cy="54" r="38" />
    <circle cx="50" cy="47" r="38" />
    <path d="m31 36 5 25h28l5-25-11 11-8-16-8 16z" fill={paint.line} stroke-width="2" />
  </g>
);

const cross: Drawing = (paint) => (
  <path d="m24 24 52 52M76 24 24 76" fill="none" stroke={paint.fill} stroke-width="13" stroke-linecap="round" />
);

const nought: Drawing = (paint) => (
  <circle cx="50" cy="50" r="28" fill="none" stroke={paint.fill} stroke-width="12" />
);

const wall: Drawing = (paint) => (
  <g>
    <path d="M4 4h92v92H4z" fill={paint.fill} />
    <path d="M4 34h92M4 66h92M50 4v30M27 34v32M73 34v32M50 66v30" stroke={paint.line} stroke-width="4" opacity=".5" />
  </g>
);

const box: Drawing = (paint) => (
  <g {...outline(paint)}>
    <path d="M18 18h64v64H18z" />
    <path d="M30 30h40v40H30zM30 30l40 40M70 30 30 70" fill="none" opacity=".75" />
  </g>
);

const figure: Drawing = (paint) => (
  <g {...outline(paint)}>
    <circle cx="50" cy="28" r="15" />
    <path d="M50 46c18 0 27 12 28 40H22c1-28 10-40 28-40z" />
  </g>
);

const target: Drawing = (paint) => (
  <g fill="none" stroke={paint.fill} stroke-width="5" opacity=".8">
    <circle cx="50" cy="50" r="24" stroke-dasharray="10 8" />
    <circle cx="50" cy="50" r="5" fill={paint.fill} stroke="none" />
  </g>
);

const across: Drawing = (paint) => (
  <path d="M-28 50h156" stroke={paint.fill} stroke-width="14" stroke-linecap="round" />
);

const upright: Drawing = (paint) => (
  <path d="M50-28v156" stroke={paint.fill} stroke-width="14" stroke-linecap="round" />
);

const lamp: Drawing = (paint) => (
  <g {...outline(paint)}>
    <path d="M50 14c16 0 27 11 27 26 0 12-9 18-12 28H35c-3-10-12-16-12-28 0-15 11-26 27-26z" />
    <path d="M37 76h26M41 85h18" fill="none" stroke-width="6" />
  </g>
);

const block: Drawing = (paint) => <path d="M8 8h84v84H8z" fill={paint.fill} stroke={paint.line} stroke-width="3" />;

const flame: Drawing = (paint) => (
  <path
    d="M50 12c4 16 24 24 24 47 0 16-11 27-24 27S26 75 26 59c0-10 5-15 9-22 3 5 5 8 9 9-3-12 0-24 6-34z"
    {...outline(paint)}
  />
);

const arrow: Drawing = (paint) => (
  <path d="M50 14 78 46H62v40H38V46H22z" {...outline(paint)} />
);

const drawings = {
  pawn,
  rook,
  knight,
  bishop,
  queen,
  king,
  disc,
  man,
  crownedMan,
  cross,
  nought,
  wall,
  box,
  figure,
  target,
  across,
  upright,
  lamp,
  block,
  flame,
  arrow,
} satisfies Record<string, Drawing>;

export type PieceName = keyof typeof drawings;

export const isPieceName = (name: string): name is PieceName => Object.hasOwn(drawings, name);

export const pieceNames = Object.keys(drawings) as PieceName[];

export function Piece({ name, paint }: { name: PieceName; paint: Paint }) {
  return drawings[name](paint);
}

/** Traits of a piece that is described by words, such as those of Quarto. */
export interface Traits {
  tall: boolean;
  round: boolean;
  hollow: boolean;
}

export function TraitPiece({ traits, paint }: { traits: Traits; paint: Paint }) {
  const top = traits.tall ? 18 : 44;
  const style = outline(paint);
  return traits.round ? (
    <g {...style}>
      <path d={`M26 ${top + 8}v${74 - top}a24 9 0 0 0 48 0v-${74 - top}`} />
      <ellipse cx="50" cy={top + 8} rx="24" ry="9" />
      {traits.hollow && <ellipse cx="50" cy={top + 8} rx="12" ry="4.5" fill={paint.line} />}
    </g>
  ) : (
    <g {...style}>
      <path d={`M24 ${top + 8}l26 9 26-9v${72 - top}l-26 10-26-10z`} />
      <path d={`M24 ${top + 8}l26-9 26 9-26 9zM50 ${top + 17}v${73 - top}`} />
      {traits.hollow && <path d={`M38 ${top + 8}l12-4 12 4-12 4z`} fill={paint.line} />}
    </g>
  );
}
