/**
 * Is a line inside a code fence? Without the whole of markdown's grammar that has more than one answer: an indented
 * fence may belong to a list item (and end with it), stand by itself, or be indented code and no fence at all. All
 * three are followed side by side, and a line is outside only where every one of them says so: whoever wants to hide
 * a signal in a fence may not profit from our not knowing which.
 */
export interface FenceWatch {
  outside: boolean;
  /** Some fence would end with its list item: then every line that is not indented matters, not only fences. */
  endsWithItem: boolean;
  /** Nothing after a fence too long to read counts as outside. */
  shut: boolean;
  /** What is open by each of the readings. */
  readonly open: (FenceMark | null)[];
}

interface Rules {
  /** Fences that are indented deeper are no fences. */
  readonly deepest: number;
  readonly endsWithItem: boolean;
}

const READINGS: readonly Rules[] = [
  { deepest: Number.POSITIVE_INFINITY, endsWithItem: false },
  { deepest: Number.POSITIVE_INFINITY, endsWithItem: true },
  { deepest: 3, endsWithItem: false },
];

export interface FenceMark {
  readonly char: string;
  readonly length: number;
  readonly indent: number;
  readonly inItem: boolean;
  readonly rest: string;
}

export function watchFences(): FenceWatch {
  return { outside: true, endsWithItem: false, shut: false, open: READINGS.map(() => null) };
}

/** Takes the next line, in plain text, and says whether it opened or closed a fence. */
export function takeFence(watch: FenceWatch, line: string, mark: FenceMark | null = fenceMarkOf(line)): boolean {
  if (mark === null && !watch.endsWithItem) return false;
  const isOutdented = line !== "" && !SPACES.includes(line[0]!);
  let changed = false;
  watch.outside = !watch.shut;
  watch.endsWithItem = false;
  for (let at = 0; at < READINGS.length; at++) {
    const rules = READINGS[at]!;
    const before = watch.open[at] ?? null;
    const next = after(before !== null && isOutdented && endsHere(rules, before) ? null : before, rules, mark);
    if (next !== before && mark !== null) changed = true;
    watch.open[at] = next;
    if (next === null) continue;
    watch.outside = false;
    if (endsHere(rules, next)) watch.endsWithItem = true;
  }
  return changed;
}

function after(open: FenceMark | null, rules: Rules, mark: FenceMark | null): FenceMark | null {
  if (mark === null) return open;
  if (open !== null) return closes(open, mark) ? null : open;
  return mark.indent <= rules.deepest && opens(mark) ? mark : null;
}

const endsHere = (rules: Rules, mark: FenceMark): boolean => rules.endsWithItem && (mark.inItem || mark.indent > 0);

/** What stands behind the backticks that open a fence may hold none: with one it is code inside a line. */
const opens = (mark: FenceMark): boolean => mark.char === "~" || !mark.rest.includes("`");

const closes = (open: FenceMark, mark: FenceMark): boolean =>
  mark.char === open.char &&
  mark.length >= open.length &&
  !mark.inItem &&
  mark.indent <= open.indent + 3 &&
  mark.rest.trim() === "";

/** The fence that a line is, if it is one. Whoever sees the same line again and again may keep it. */
export function fenceMarkOf(line: string): FenceMark | null {
  const match = FENCE_AHEAD.test(line) ? FENCE.exec(line) : null;
  if (match === null) return null;
  const [, indent = "", bullet = "", ticks = "", rest = ""] = match;
  const before = indent + bullet;
  return {
    char: ticks[0]!,
    length: ticks.length,
    indent: before.includes("\t") ? before.replaceAll("\t", "    ").length : before.length,
    inItem: bullet !== "",
    rest,
  };
}

const SPACES = " \t\n";
const FENCE_AHEAD = /^[ \t]*(?:[-*+\d`~])/;
const FENCE = /^([ \t]*)((?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})([^\n]*)$/;
