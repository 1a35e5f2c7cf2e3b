import { signal } from "@preact/signals";
import { go } from "./router.tsx";

/** The open dialog, if any. */
export const dialog = signal<"palette" | "help" | null>(null);

const PLACE = "remand-keys";
/** Single keys can be switched off, because speech input and some keyboards trigger them by mistake. */
export const hasKeys = signal(localStorage.getItem(PLACE) !== "off");

export function setKeys(isOn: boolean): void {
  hasKeys.value = isOn;
  localStorage.setItem(PLACE, isOn ? "on" : "off");
}

/** The keys and their effects, for the list of keys. */
export const KEYS: readonly (readonly [key: string, does: string])[] = [
  ["j / k", "Next row, previous row"],
  ["Enter", "Open the row"],
  ["x", "Select the row"],
  ["1 – 9", "Give that answer to the row's question"],
  ["c", "Write a new story"],
  ["/", "Filter"],
  ["g n", "Go to Now; g l Live, g s Stories, g d Graph, g c Cost, g e Events, g t Settings"],
  ["Ctrl K", "Search pages, stories and actions"],
  ["?", "This list"],
];

const GO: Readonly<Record<string, string>> = {
  n: "/",
  l: "/live",
  s: "/stories",
  d: "/graph",
  c: "/cost",
  e: "/events",
  t: "/settings",
};

export function startKeys(): void {
  let isGoing = false;
  addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey)) {
      event.preventDefault();
      dialog.value = dialog.value === "palette" ? null : "palette";
      return;
    }
    if (!hasKeys.value || event.metaKey || event.ctrlKey || event.altKey || dialog.value !== null) return;
    if (isTyping(event.target)) return;
    const wasGoing = isGoing;
    isGoing = event.key === "g";
    const to = wasGoing ? GO[event.key] : undefined;
    if (to !== undefined) {
      event.preventDefault();
      return go(to);
    }
    if (act(event.key)) event.preventDefault();
  });
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches("textarea, select, input:not([type=checkbox]):not([type=radio])"));

/** Runs the action of a key; `false` if the key has none. */
function act(key: string): boolean {
  switch (key) {
    case "?":
      dialog.value = "help";
      return true;
    case "c":
      go("/new");
      return true;
    case "/":
      return focus(document.querySelector<HTMLElement>("input[type=search]"));
    case "j":
    case "k":
      return move(key === "j" ? 1 : -1);
    case "x":
      return click(rowNow()?.querySelector<HTMLElement>("input[type=checkbox]"));
    default:
      return /^[1-9]$/.test(key) && click(rowNow()?.querySelectorAll<HTMLElement>("[data-answer]")[Number(key) - 1]);
  }
}

const rows = (): readonly HTMLElement[] => [...document.querySelectorAll<HTMLElement>("main [data-row]")];
const rowNow = (): HTMLElement | null => document.activeElement?.closest<HTMLElement>("[data-row]") ?? null;

function move(by: 1 | -1): boolean {
  const all = rows();
  const now = rowNow();
  const next = now === null ? all[by === 1 ? 0 : all.length - 1] : all[all.indexOf(now) + by];
  return focus(next?.querySelector<HTMLElement>("[data-main]") ?? null);
}

function focus(element: HTMLElement | null): boolean {
  element?.focus();
  element?.scrollIntoView({ block: "nearest" });
  return element !== null;
}

function click(element: HTMLElement | null | undefined): boolean {
  element?.click();
  return element !== null && element !== undefined;
}
