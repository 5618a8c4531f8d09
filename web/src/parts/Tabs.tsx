// Panels of which one is shown, with the keys that screen readers know.

import type { ComponentChildren } from "preact";

export interface Tab {
  id: string;
  title: string;
  body: ComponentChildren;
}

export function Tabs({ tabs, current, onSelect, label }: { tabs: Tab[]; current: string; onSelect: (id: string) => void; label: string }) {
  const shown = tabs.find((tab) => tab.id === current) ?? tabs[0]!;
  const move = (event: KeyboardEvent) => {
    const delta = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (delta === 0) return;
    event.preventDefault();
    const idx = (tabs.indexOf(shown) + delta + tabs.length) % tabs.length;
    onSelect(tabs[idx]!.id);
    (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role=tab]")[idx]?.focus();
  };
  return (
    <div class="stack">
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`tab-${tab.id}`}
            aria-controls={`panel-${tab.id}`}
            aria-selected={tab === shown}
            tabIndex={tab === shown ? 0 : -1}
            onClick={() => onSelect(tab.id)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      {tabs.map((tab) => (
        <div key={tab.id} role="tabpanel" id={`panel-${tab.id}`} aria-labelledby={`tab-${tab.id}`} hidden={tab !== shown} class="panel">
          {tab.body}
        </div>
      ))}
    </div>
  );
}
