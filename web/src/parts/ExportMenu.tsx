// What can be taken away from a match or a position.

import { useState } from "preact/hooks";
import { sentence } from "../api";
import { pack } from "../link";
import { href } from "../route";
import { copyText, download, movesText, pngBlob, svgText } from "./export";
import { Icon } from "./Icon";

interface Props {
  name: string;
  game: string;
  /** The rules of an uploaded game, which a link has to carry. */
  rules: () => Promise<string | null>;
  moves: string[][];
  record: (() => Promise<unknown>) | null;
}

export function ExportMenu(props: Props) {
  const [note, setNote] = useState<string | null>(null);
  const file = props.name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "match";
  const board = () => document.querySelector<SVGSVGElement>(".stage .board-svg");
  const act = (work: () => Promise<string | void> | string | void) => async () => {
    try {
      setNote((await work()) ?? null);
    } catch (fault) {
      setNote(sentence(fault));
    }
  };
  const link = async () => {
    const rules = await props.rules();
    const query: Record<string, string> = { moves: await pack(JSON.stringify(props.moves)) };
    if (rules !== null) query.rules = await pack(rules);
    const url = `${window.location.href.split("#")[0]}${href(["explore", props.game], query)}`;
    return (await copyText(url)) ? "The link to this position is in the clipboard." : url;
  };
  const button = (text: string, work: () => Promise<string | void> | string | void) => (
    <button type="button" class="button small" onClick={act(work)}>
      {text}
    </button>
  );
  return (
    <div class="stack">
      <p class="label row">
        <Icon name="save" /> Take away
      </p>
      <div class="row">
        {props.record && button("Record", async () => download(`${file}.json`, JSON.stringify(await props.record!(), null, 2), "application/json"))}
        {button("Moves", () => download(`${file}.txt`, movesText(props.moves)))}
        {board() !== null && button("SVG", () => download(`${file}.svg`, svgText(board()!), "image/svg+xml"))}
        {board() !== null && button("PNG", async () => download(`${file}.png`, await pngBlob(board()!)))}
        {button("Link", link)}
      </div>
      {note && (
        <p class="small muted break" role="status">
          {note}
        </p>
      )}
    </div>
  );
}
