import { type JsonMember, type JsonNode, memberOf, scanJson } from "./json-scan.ts";

/** Something a JSON file is to hold, beside everything that it holds already. */
export interface JsonWish {
  /** Objects on the way that are not there are made. */
  readonly path: readonly string[];
  /** `member`: the value stands at the path. `item`: at the path stands a list, and the value is one of its items. */
  readonly as: "member" | "item";
  readonly value: unknown;
  /** `item`: under this key each item has a list of its own, and what is wanted is in one of those. */
  readonly within?: string;
  /** Is this the thing that is wanted, whatever else it says? */
  isOurs(thing: unknown): boolean;
}

export type JsonEdit =
  | { readonly ok: true; readonly grown: Grown }
  | { readonly ok: false; readonly at: number; readonly message: string };

/** Adds what is missing. Every byte that was there stays where it is: nothing is written anew. */
export function addToJson(start: Grown, wishes: readonly JsonWish[]): JsonEdit {
  let grown = start;
  for (const wish of wishes) {
    const edit = addOne(grown, wish);
    if (!edit.ok) return edit;
    grown = edit.grown;
  }
  return { ok: true, grown };
}

function addOne(grown: Grown, wish: JsonWish): JsonEdit {
  const scan = scanJson(grown.text);
  if (!scan.ok) return scan;
  if (scan.root === null) {
    const piece = JSON.stringify(nested(wish.path, wish), null, 2).replaceAll("\n", eolOf(grown.text));
    return { ok: true, grown: grow(grown, grown.text.length, piece) };
  }
  let node = scan.root;
  if (node.kind !== "object") return { ok: false, at: node.start, message: "it is no object" };
  for (const [index, key] of wish.path.entries()) {
    const member = memberOf(node, key);
    if (member === undefined)
      return { ok: true, grown: addMember(grown, node, key, nested(wish.path.slice(index + 1), wish)) };
    const isLast = index === wish.path.length - 1;
    // What somebody put there stays.
    if (isLast && wish.as === "member") return { ok: true, grown };
    const needed = isLast ? "array" : "object";
    if (member.node.kind !== needed) {
      const message = `"${wish.path.slice(0, index + 1).join(".")}" is no ${isLast ? "list" : "object"}`;
      return { ok: false, at: member.node.start, message };
    }
    node = member.node;
  }
  if (foundIn(node, wish) !== null) return { ok: true, grown };
  return { ok: true, grown: addMember(grown, node, null, wish.value) };
}

/** Where in a list the wanted thing stands: its item, and its place in the item's own list where there is such. */
export function foundIn(list: JsonNode, { within, isOurs }: JsonWish): { item: number; inner: number | null } | null {
  for (const [item, { node }] of list.members.entries()) {
    if (within === undefined) {
      if (isOurs(plain(node))) return { item, inner: null };
      continue;
    }
    const own = memberOf(node, within)?.node;
    const inner = own?.kind === "array" ? own.members.findIndex((each) => isOurs(plain(each.node))) : -1;
    if (inner >= 0) return { item, inner };
  }
  return null;
}

function nested(path: readonly string[], { as, value }: JsonWish): unknown {
  let out: unknown = as === "item" ? [value] : value;
  for (const key of path.toReversed()) out = { [key]: out };
  return out;
}

/** The value that a node stands for. */
export function plain(node: JsonNode): unknown {
  if (node.kind === "array") return node.members.map((member) => plain(member.node));
  if (node.kind === "other") return node.value;
  return Object.fromEntries(node.members.map((member) => [member.key, plain(member.node)]));
}

/** Puts a member behind the last one, in the manner of those that are there. */
function addMember(grown: Grown, node: JsonNode, key: string | null, value: unknown): Grown {
  const { text } = grown;
  const eol = eolOf(text);
  const last = node.members.at(-1);
  const inner = text.slice(node.start + 1, node.end - 1);
  const isOneLine = last !== undefined && !inner.includes("\n");
  const named = (json: string): string => (key === null ? json : `${JSON.stringify(key)}: ${json}`);
  if (isOneLine) {
    const comma = hasCommaBehind(text, last) ? commaEnd(text, last.node.end) : null;
    return grow(grown, comma ?? last.node.end, `${comma === null ? ", " : " "}${named(JSON.stringify(value))}`);
  }
  const outer = indentAt(text, node.start);
  const unit = unitOf(text);
  const indent = last !== undefined && startsLine(text, last.start) ? indentAt(text, last.start) : outer + unit;
  const json = JSON.stringify(value, null, unit).replaceAll("\n", `${eol}${indent}`);
  const piece = `${eol}${indent}${named(json)}`;
  if (last === undefined) return grow(grown, node.start + 1, inner.includes("\n") ? piece : `${piece}${eol}${outer}`);
  if (hasCommaBehind(text, last)) return grow(grown, remarkEnd(text, commaEnd(text, last.node.end)), piece);
  // The later place first: the earlier one does not move by it.
  return grow(grow(grown, remarkEnd(text, last.node.end), piece), last.node.end, ",");
}

const BLANKS = String.raw`(?:[ \t\r\n]|\/\/[^\r\n]*|\/\*[^]*?\*\/)*`;

const hasCommaBehind = (text: string, { node }: JsonMember): boolean =>
  new RegExp(`^${BLANKS},`).test(text.slice(node.end));

function commaEnd(text: string, from: number): number {
  return from + (new RegExp(`^${BLANKS},`).exec(text.slice(from))?.[0].length ?? 0);
}

/** A remark on the same line belongs to what it stands behind. */
function remarkEnd(text: string, from: number): number {
  return from + (/^[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/)/.exec(text.slice(from))?.[0].length ?? 0);
}

const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;

function indentAt(text: string, at: number): string {
  return /^\uFEFF?([ \t]*)/.exec(text.slice(lineStart(text, at), at))?.[1] ?? "";
}

const startsLine = (text: string, at: number): boolean => text.slice(lineStart(text, at), at).trim() === "";

/** By how much the file indents, told by its first indented line. */
const unitOf = (text: string): string => /\n([ \t]+)["{[]/.exec(text)?.[1] ?? "  ";

const eolOf = (text: string): string => (/\r?\n/.exec(text)?.[0] === "\r\n" ? "\r\n" : "\n");

/** A part of a text that was put into it. Taken out again, the text is as it was. */
export interface Span {
  readonly at: number;
  readonly length: number;
}

/** A text to which something was added and from which nothing was taken. */
export interface Grown {
  readonly text: string;
  /** What was added, in order; positions are those of the grown text. */
  readonly added: readonly Span[];
}

/** Puts a piece in, and keeps account of it. A piece inside an earlier one becomes part of that. */
export function grow({ text, added }: Grown, at: number, piece: string): Grown {
  const length = piece.length;
  if (length === 0) return { text, added };
  const spans: Span[] = [];
  let isInside = false;
  for (const span of added) {
    const end = span.at + span.length;
    if (at >= span.at && at <= end && !isInside) {
      isInside = true;
      spans.push({ at: span.at, length: span.length + length });
    } else spans.push(span.at >= at ? { at: span.at + length, length: span.length } : span);
  }
  if (!isInside) spans.push({ at, length });
  return { text: text.slice(0, at) + piece + text.slice(at), added: spans.toSorted((a, b) => a.at - b.at) };
}

/** The text without these parts. */
export function without(text: string, spans: readonly Span[]): string {
  let out = "";
  let from = 0;
  for (const { at, length } of spans) {
    out += text.slice(from, at);
    from = at + length;
  }
  return out + text.slice(from);
}
