// Files that people take away: the board as SVG or PNG, records and moves.

const styles = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "font-family", "text-anchor", "dominant-baseline"];

/** The board as a file of its own, with the colours that the page has now. */
export function svgText(board: SVGSVGElement): string {
  const copy = board.cloneNode(true) as SVGSVGElement;
  const originals = [board, ...board.querySelectorAll("*")];
  const copies = [copy, ...copy.querySelectorAll("*")];
  originals.forEach((original, idx) => {
    const computed = getComputedStyle(original);
    const target = copies[idx]!;
    for (const name of styles) target.setAttribute(name, computed.getPropertyValue(name));
    for (const name of ["class", "style", "tabindex", "role", "data-cell", "data-piece", "data-name", "aria-pressed", "aria-disabled"]) {
      target.removeAttribute(name);
    }
  });
  const [, , width, height] = (board.getAttribute("viewBox") ?? "0 0 800 800").split(" ").map(Number);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  return new XMLSerializer().serializeToString(copy);
}

export async function pngBlob(board: SVGSVGElement): Promise<Blob> {
  const text = svgText(board);
  const [, , width = 800, height = 800] = (board.getAttribute("viewBox") ?? "").split(" ").map(Number);
  const scale = Math.min(2, 2400 / Math.max(width, height));
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext("2d")!;
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise<Blob>((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture could not be made."))), "image/png"),
    );
  } finally {
    URL.revokeObjectURL(url);
  }
}

export function download(name: string, content: Blob | string, type = "text/plain"): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** One joint move per line, as `agon search --moves` reads them. */
export function movesText(moves: string[][]): string {
  return moves.map((joint) => `${joint.join(" ")}\n`).join("");
}

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
