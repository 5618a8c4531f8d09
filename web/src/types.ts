// The types of the API, as docs/API.md has them.

export interface Role {
  name: string;
  title: string;
  /** Whether chance plays it. */
  isChance: boolean;
}

export interface Label {
  text: string;
  at: number;
}

export interface Part {
  title: string | null;
  x: number;
  y: number;
  width: number;
  height: number;
  columns: Label[];
  rows: Label[];
}

export interface Cell {
  name: string;
  part: number;
  column: number;
  row: number;
  x: number;
  y: number;
  tone: 0 | 1;
}

export type BoardKind = "square" | "hex" | "boards" | "space" | "none";

export interface Layout {
  kind: BoardKind;
  width: number;
  height: number;
  parts: Part[];
  cells: Cell[];
}

export type Shape =
  | "king"
  | "queen"
  | "rook"
  | "bishop"
  | "knight"
  | "pawn"
  | "man"
  | "crown"
  | "disc"
  | "cross"
  | "ring"
  | "wall"
  | "mark"
  | "floor"
  | "text";

export interface Piece {
  cell: number;
  glyph: string;
  name: string;
  title: string;
  shape: Shape;
  role: number | null;
  layer: number;
}

export interface Facts {
  name: string;
  rows: string[][];
  role: number | null;
}

export interface Move {
  id: number;
  kif: string;
  text: string;
  from: number | null;
  to: number | null;
  cells: number[];
}

export interface MadeMove {
  role: number;
  kif: string;
  text: string;
  from: number | null;
  to: number | null;
  cells: number[];
}

export interface State {
  step: number;
  pieces: Piece[];
  facts: Facts[];
  turn: number[];
  moves: Move[][];
  last: MadeMove[] | null;
  isTerminal: boolean;
  goals: (number | null)[] | null;
}

export type GameKind = "turn-taking" | "simultaneous" | "single-player";

export interface GameSummary {
  id: string;
  title: string;
  description: string;
  source: string | null;
  kind: GameKind | null;
  roles: Role[];
  board: BoardKind;
  cells: number;
  tables: string[];
  /** Whether roles know only their own moves and what they see. */
  isHidden: boolean;
  /** Whether positions can be searched: without chance and hidden information. */
  canAnalyse: boolean;
}

export interface GameInfo extends GameSummary {
  layout: Layout;
  start: State;
  rules: string;
  engine: "network" | "interpreter";
  noBoardReason: string | null;
  /** Whether `agon:model=trained` can play it. */
  isTrained: boolean;
}

export interface StartPicture {
  id: string;
  layout: Layout;
  pieces: Piece[];
}

export interface PlayerInfo {
  name: string;
  about: string;
}

export interface ServerInfo {
  version: string;
  isLoopback: boolean;
  cores: number;
  limits: { matches: number; searches: number; clock: number; rulesBytes: number; recordBytes: number };
  player: { url: string } | null;
  load: { matches: number; searching: number; waiting: number };
}

export interface Position {
  game: string;
  state: State;
  path: MadeMove[][];
}

export type SeatSetup =
  | { kind: "person"; name?: string }
  | { kind: "bot"; player: string }
  | { kind: "chance" }
  | { kind: "remote"; url: string; name?: string };

export interface MatchSetup {
  game: string;
  seats: SeatSetup[];
  moves?: string[][];
  startClock?: number;
  playClock?: number;
  playouts?: number;
  personClock?: number | null;
  pace?: number;
  isPaused?: boolean;
  isPublic?: boolean;
  seed?: number;
}

export interface NewMatch {
  id: string;
  owner: string;
  seats: { role: number; kind: string; token: string | null }[];
}

export interface MatchRow {
  id: string;
  game: string;
  title: string;
  players: string[];
  roles: Role[];
  status: string;
  step: number;
  goals: (number | null)[] | null;
  started: number;
}

export interface Seat {
  role: number;
  kind: "person" | "bot" | "chance" | "remote";
  name: string;
  status: "idle" | "to-move" | "chosen" | "queued" | "thinking";
  place: number | null;
  nFaults: number;
}

export interface Thought {
  value: number | null;
  playouts: number;
  seconds: number;
  stop: string | null;
}

export interface Step {
  moves: MadeMove[];
  errors: string[];
  thoughts: (Thought | null)[];
  /** Where something is hidden: what roles saw. */
  seen: { role: number; percepts: string[] }[];
  at: number;
}

export interface Ending {
  kind: string;
  text: string;
  goals: (number | null)[] | null;
  winners: number[];
}

export interface Match {
  id: string;
  version: number;
  game: string;
  title: string;
  roles: Role[];
  layout: Layout;
  status: "preparing" | "running" | "paused" | "over";
  seats: Seat[];
  you: number[];
  isOwner: boolean;
  state: State;
  history: Step[];
  clocks: { start: number; play: number; playouts: number | null; person: number | null };
  deadline: number | null;
  pace: number;
  canUndo: boolean;
  canResign: boolean;
  canAnalyse: boolean;
  /** Whether the page gets only what its roles know. */
  hides: boolean;
  ending: Ending | null;
  started: number;
}

export interface MoveReport {
  kif: string;
  text: string;
  from: number | null;
  to: number | null;
  visits: number;
  mean: number;
  value: number;
  rave: number | null;
  mast: number | null;
  heuristic: number | null;
  bounds: [number, number];
  proven: number | null;
}

export interface Report {
  role: number;
  step: number;
  isDone: boolean;
  stop: string | null;
  playouts: number;
  transitions: number;
  seconds: number;
  playoutsPerSecond: number;
  share: number;
  value: number | null;
  moves: MoveReport[];
  line: MadeMove[][];
  techniques: { name: string; status: "on" | "off" | "undecided"; text: string }[];
  tree: { nodes: number; bytes: number; deepest: number; meanDepth: number; meanPlayout: number } | null;
}

export interface Replay {
  game: string;
  title: string;
  roles: Role[];
  layout: Layout;
  canAnalyse: boolean;
  players: string[];
  history: Step[];
  goals: (number | null)[] | null;
  ending: Ending | null;
  started: number;
  isValid: boolean;
  problem: string | null;
  moves: string[][];
}

export interface Edit {
  from: number;
  to: number;
  text: string;
}

export interface Finding {
  severity: "error" | "warning";
  kind: string;
  message: string;
  help: string | null;
  line: number;
  column: number;
  from: number;
  to: number;
  labels: { from: number; to: number; text: string }[];
  fixes: { title: string; edits: Edit[] }[];
}

export interface CheckAnswer {
  ok: boolean;
  roles: string[];
  findings: Finding[];
}

export interface Hover {
  from: number;
  to: number;
  name: string;
  title: string;
  text: string[];
  kind: string;
  arity: number;
  definitions: { line: number; column: number }[];
  nUses: number;
}

export interface AnalyseResult {
  text: string;
  isGood: boolean;
  findings: { ok: boolean; name: string; text: string }[];
}

export interface Ping {
  status: string;
  name: string | null;
  reason?: string;
}

export interface StoreRow {
  game: string;
  first: string;
  second: string;
  budget: string;
  nMatches: number;
  wins: number;
  draws: number;
  losses: number;
  mean: number;
  low: number;
  high: number;
  elo: number | null;
  eloLow: number | null;
  eloHigh: number | null;
  verdict: string | null;
  nFaults: number;
}

export interface StoreTable {
  title: string;
  columns: string[];
  rows: StoreRow[];
}

export interface Store {
  id: string;
  nMatches: number;
  isRunning: boolean;
  progress: { done: number; total: number } | null;
  problem: string | null;
  tables: StoreTable[];
}

export interface StoreEntry {
  id: string;
  nMatches: number;
  isRunning: boolean;
}

export interface PlayerMatch {
  id: string;
  game: string;
  role: number;
  step: number;
  state: State;
  layout: Layout;
  report: Report | null;
}
