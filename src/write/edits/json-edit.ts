import { type Node, applyEdits, findNodeAtLocation, format, getNodeValue, modify } from "jsonc-parser";
import { type GrownText, grow } from "./added-text.ts";
import { type JsonDocument, endOf, readJson, withoutMark } from "./json-document.ts";

/** Something a JSON file is to hold, beside everything that it holds already. */
export interface JsonAddition {
  /** Missing objects on the way are created. */
  readonly path: readonly string[];
  /** `member`: the value is at the path. `item`: a list is at the path, and the value is one of its items. */
  readonly as: "member" | "item";
  readonly value: unknown;
  /** `item`: each item has a list under this key, and the wanted value is in one of those lists. */
  readonly within?: string;
  /** Is this the wanted value, even if a person has changed parts of it? */
  isOurs(value: unknown): boolean;
}

export type JsonEdit =
  | { readonly ok: true; readonly grown: GrownText }
  | { readonly ok: false; readonly at: number; readonly message: string };

/** Adds what is missing. Every byte that was there stays as it is. */
export function addToJson(start: GrownText, wishes: readonly JsonAddition[]): JsonEdit {
  let grown = start;
  for (const wish of wishes) {
    const edit = addOne(grown, wish);
    if (!edit.ok) return edit;
    grown = edit.grown;
  }
  return { ok: true, grown };
}

function addOne(grown: GrownText, wish: JsonAddition): JsonEdit {
  const read = readJson(grown.text);
  if (!read.ok) return read;
  const { root } = read.document;
  if (root !== null && root.type !== "object") return { ok: false, at: root.offset, message: "not an object" };
  let parent = root;
  for (const [index, key] of wish.path.entries()) {
    const found = parent === null ? undefined : findNodeAtLocation(parent, [key]);
    if (found === undefined) return { ok: true, grown: addMissing(grown, read.document, parent, wish) };
    const isLast = index === wish.path.length - 1;
    // A value that is there already belongs to the person who wrote it.
    if (isLast && wish.as === "member") return { ok: true, grown };
    if (found.type !== (isLast ? "array" : "object")) {
      const message = `"${wish.path.slice(0, index + 1).join(".")}" is not ${isLast ? "a list" : "an object"}`;
      return { ok: false, at: found.offset, message };
    }
    parent = found;
  }
  if (parent !== null && findOurs(parent, wish) !== null) return { ok: true, grown };
  return { ok: true, grown: addMissing(grown, read.document, parent, wish) };
}

/** The node of the wanted value in a list, and the item of the list that it is in. */
export function findOurs(
  list: Node,
  { within, isOurs }: JsonAddition,
): { readonly item: Node; readonly own: Node } | null {
  for (const item of list.children ?? []) {
    const inner = within === undefined ? undefined : findNodeAtLocation(item, [within]);
    const candidates = within === undefined ? [item] : inner?.type === "array" ? (inner.children ?? []) : [];
    const own = candidates.find((node) => isOurs(getNodeValue(node)));
    if (own !== undefined) return { item, own };
  }
  return null;
}

/** Inserts the value as the last one of `parent`, laid out as the text around it. */
function addMissing(grown: GrownText, document: JsonDocument, parent: Node | null, wish: JsonAddition): GrownText {
  const { text } = grown;
  const path = wish.as === "item" ? [...wish.path, -1] : [...wish.path];
  const { content, offset } = modify(withoutMark(text), path, wish.value, {})[0]!;
  const eol = /\r\n|\n|\r/.exec(text)?.[0] ?? "\n";
  if (parent === null) {
    const at = text.startsWith("\uFEFF") ? 1 : 0;
    return grow(grown, at, layOut(text, at, text.trim() === "" ? content : `${content}${eol}`));
  }
  const isOneLine = !/[\r\n]/.test(text.slice(parent.offset, endOf(parent)));
  if (!content.startsWith(",")) {
    const piece = `${eol}${content}${isOneLine ? eol : ""}`;
    return grow(grown, offset, layOut(text, offset, piece));
  }
  const trailing = document.commas.find((comma) => comma >= offset && comma < endOf(parent));
  const withComma = trailing === undefined ? grow(grown, offset, ",") : grown;
  const moved = withComma.text.length - text.length;
  const at = endOfLineComment(text, document, trailing === undefined ? offset : trailing + 1) + moved;
  const body = `${isOneLine ? " " : eol}${content.slice(1)}`;
  return grow(withComma, at, layOut(withComma.text, at, body, isOneLine));
}

/** A comment on the same line belongs to the value before it, so the next value goes behind the comment. */
function endOfLineComment(text: string, { comments }: JsonDocument, from: number): number {
  const comment = comments.find(({ at }) => at >= from && /^[ \t]*$/.test(text.slice(from, at)));
  if (comment === undefined) return from;
  const end = comment.at + comment.length;
  return /[\r\n]/.test(text.slice(from, end)) ? from : end;
}

/** A piece with the blanks it needs at this position: the indentation of the file, or one line as the text around it. */
function layOut(text: string, at: number, piece: string, isOneLine = false): string {
  const whole = text.slice(0, at) + piece + text.slice(at);
  const end = at + piece.length;
  const unit = /[\r\n]([ \t]+)["{[]/.exec(text)?.[1] ?? "  ";
  const options = { tabSize: unit.length, insertSpaces: !unit.startsWith("\t"), keepLines: isOneLine };
  const edits = format(whole, { offset: at, length: piece.length }, options);
  const laidOut = applyEdits(
    whole,
    edits.filter(({ offset, length }) => offset >= at && offset + length <= end),
  );
  return laidOut.slice(at, end + laidOut.length - whole.length);
}
