import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

/** The current address. Every page has one, so that a user can share a link to it. */
export const place = signal({ path: location.pathname, search: location.search });

export function go(to: string): void {
  history.pushState(null, "", to);
  onNavigate();
}

/** Changes a search parameter without a history entry, and returns to the first page of a list. */
export function setSearchParam(name: string, value: string): void {
  const search = new URLSearchParams(location.search);
  search.delete("offset");
  if (value === "") search.delete(name);
  else search.set(name, value);
  const text = search.toString();
  history.replaceState(null, "", text === "" ? location.pathname : `${location.pathname}?${text}`);
  place.value = { path: location.pathname, search: location.search };
}

export const searchParam = (name: string): string => new URLSearchParams(place.value.search).get(name) ?? "";

function onNavigate(): void {
  place.value = { path: location.pathname, search: location.search };
  if (location.hash === "") scrollTo(0, 0);
}

export function startRouter(): void {
  addEventListener("popstate", onNavigate);
}

export interface LinkProps {
  readonly to: string;
  /** Whether `j` and `k` move to this link of a row. */
  readonly isMain?: boolean;
  readonly class?: string;
  readonly current?: boolean;
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** A native link: it can be opened in another tab, and a click follows it without reloading the page. */
export function Link({ to, class: name, current, isMain, title, children }: LinkProps) {
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a
      href={to}
      class={name}
      title={title}
      aria-current={current === true ? "page" : undefined}
      data-main={isMain}
      onClick={follow}
    >
      {children}
    </a>
  );
}
