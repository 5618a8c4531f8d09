// The start board of a game as a small picture, loaded when it comes into view.

import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../api";
import { Board } from "../board/Board";
import { roleColors } from "../board/colors";
import type { Role, StartPicture } from "../types";
import { Icon } from "./Icon";

const known = new Map<string, Promise<StartPicture>>();

function startOf(game: string): Promise<StartPicture> {
  const loading = known.get(game) ?? api.start(game);
  known.set(game, loading);
  loading.catch(() => known.delete(game));
  return loading;
}

export function Picture({ game, title, roles }: { game: string; title: string; roles: Role[] }) {
  const box = useRef<HTMLDivElement>(null);
  const [picture, setPicture] = useState<StartPicture | null>(null);
  useEffect(() => {
    let isCurrent = true;
    const show = () =>
      startOf(game).then(
        (start) => isCurrent && setPicture(start),
        () => undefined,
      );
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) {
          observer.disconnect();
          void show();
        }
      },
      { rootMargin: "300px" },
    );
    if (box.current) observer.observe(box.current);
    return () => {
      isCurrent = false;
      observer.disconnect();
    };
  }, [game]);
  const isBoard = picture !== null && picture.layout.kind !== "none" && picture.layout.cells.length > 0;
  return (
    <div class="picture" ref={box}>
      {isBoard ? (
        <Board
          layout={picture.layout}
          pieces={picture.pieces}
          colors={roleColors(roles.map((role) => role.name))}
          title={`Start of ${title}`}
          isPicture
        />
      ) : (
        <div class={picture === null ? "picture-none loading" : "picture-none"} aria-hidden="true">
          {picture !== null && <Icon name="people" />}
        </div>
      )}
    </div>
  );
}
