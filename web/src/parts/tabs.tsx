import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

export interface TabItem {
  readonly id: string;
  readonly label: ComponentChildren;
}

export interface TabsProps {
  readonly label: string;
  readonly items: readonly TabItem[];
  readonly selected: string;
  onSelect(id: string): void;
  readonly children: ComponentChildren;
}

/** Tabs with the usual keys: left and right move, Home and End go to the ends. */
export function Tabs({ label, items, selected, onSelect, children }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  const select = (index: number): void => {
    const item = items[(index + items.length) % items.length];
    if (item === undefined) return;
    onSelect(item.id);
    list.current?.querySelector<HTMLElement>(`#tab-${item.id}`)?.focus();
  };
  const onKey = (event: KeyboardEvent): void => {
    const at = items.findIndex(({ id }) => id === selected);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    select(to);
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKey} ref={list}>
        {items.map(({ id, label: text }) => (
          <button
            type="button"
            role="tab"
            id={`tab-${id}`}
            aria-selected={id === selected}
            aria-controls="tab-panel"
            tabIndex={id === selected ? 0 : -1}
            onClick={() => onSelect(id)}
            key={id}
          >
            {text}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${selected}`} class="tab-panel" tabIndex={0}>
        {children}
      </div>
    </>
  );
}
