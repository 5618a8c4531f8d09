// The colour of a role as a small disc.

import type { RoleColor } from "../board/colors";
import { Piece } from "../board/pieces";

export function Swatch({ color }: { color: RoleColor }) {
  return (
    <svg class="swatch" viewBox="8 8 84 84" aria-hidden="true">
      <Piece name={color.shape} paint={color} />
    </svg>
  );
}
