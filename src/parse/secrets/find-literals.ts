import type { Secret } from "./secret-literals.ts";

/** Looks for many texts at once. The time does not grow with their number. */
export interface LiteralFinder {
  has(text: string): boolean;
  /** Every occurrence; those that run into each other are one, so that a text of nothing but them fills no memory. */
  find(text: string, kind: string): Secret[];
}

/** Short texts allow short steps only, so they are looked for apart from the long ones. */
export function createLiteralFinder(forms: Iterable<string>): LiteralFinder {
  const all = [...forms];
  const groups = [all.filter((form) => form.length < LONG), all.filter((form) => form.length >= LONG)];
  const searches = groups.filter((group) => group.length > 0).map(createSearch);
  return {
    has: (text) => searches.some((search) => search(text, 0) !== null),
    find: (text, kind) => searches.flatMap((search) => findAll(search, text, kind)),
  };
}

const LONG = 8;

interface Found {
  readonly start: number;
  readonly end: number;
}

type Search = (text: string, from: number) => Found | null;

function findAll(search: Search, text: string, kind: string): Secret[] {
  const secrets: Secret[] = [];
  let open: Found | null = null;
  for (let next = search(text, 0); next !== null; next = search(text, next.start + 1)) {
    if (open !== null && next.start <= open.end) open = { start: open.start, end: Math.max(open.end, next.end) };
    else {
      if (open !== null) secrets.push({ ...open, kind });
      open = next;
    }
  }
  if (open !== null) secrets.push({ ...open, kind });
  return secrets;
}

/**
 * Wu and Manber's search: of all texts only the first `length` characters are compared at first. The last two of them
 * tell how far the window may move on before any text can end there.
 */
function createSearch(forms: readonly string[]): Search {
  const length = Math.min(...forms.map((form) => form.length));
  const steps = new Uint8Array(TABLE).fill(Math.min(length - 1, 255));
  const candidates = new Map<number, string[]>();
  for (const form of forms) {
    for (let at = 1; at < length; at++) {
      const pair = pairAt(form, at);
      steps[pair] = Math.min(steps[pair]!, length - 1 - at);
    }
    const last = pairAt(form, length - 1);
    candidates.set(last, [...(candidates.get(last) ?? []), form]);
  }
  return (text, from) => {
    for (let at = from + length - 1; at < text.length;) {
      const pair = pairAt(text, at);
      const step = steps[pair]!;
      if (step > 0) {
        at += step;
        continue;
      }
      const start = at - length + 1;
      let end = 0;
      for (const form of candidates.get(pair) ?? [])
        if (form.length > end - start && text.startsWith(form, start)) end = start + form.length;
      if (end > 0) return { start, end };
      at++;
    }
    return null;
  };
}

const TABLE = 8192;

const pairAt = (text: string, at: number): number =>
  ((text.charCodeAt(at - 1) * 61) ^ text.charCodeAt(at)) & (TABLE - 1);
