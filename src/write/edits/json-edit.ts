import {
  type Node,
  type ParseError,
  applyEdits,
  createScanner,
  findNodeAtLocation,
  format,
  getNodeValue,
  modify,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { type AddedSpan, type GrownText, grow, without } from "./added-text.ts";

/** Something to add to a JSON file. */
export interface JsonAddition {
  /** Missing objects on the path are created. */
  readonly path: readonly string[];
  /** `member`: the value is at the path. `item`: the path leads to a list, and the value is one of its items. */
  readonly as: "member" | "item";
  readonly value: unknown;
  /** `item`: each item has a list under this key, and the value is in one of those lists. */
  readonly within?: string;
  /** Whether this is the value, even if a person has changed parts of it. */
  isOurs(value: unknown): boolean;
}

export type JsonEdit =
  | { readonly ok: true; readonly grown: GrownText }
  | { readonly ok: false; readonly at: number; readonly message: string };

/** Adds missing values. All existing bytes stay as they are. */
export function addToJson(start: GrownText, additions: readonly JsonAddition[]): JsonEdit {
  let grown = start;
  for (const addition of additions) {
    const edit = addOne(grown, addition);
    if (!edit.ok) return edit;
    grown = edit.grown;
  }
  return { ok: true, grown };
}

function addOne(grown: GrownText, addition: JsonAddition): JsonEdit {
  const read = readJson(grown.text);
  if (!read.ok) return read;
  const { root } = read.document;
  if (root !== null && root.type !== "object") return { ok: false, at: root.offset, message: "not an object" };
  let parent = root;
  for (const [index, key] of addition.path.entries()) {
    const found = parent === null ? undefined : findNodeAtLocation(parent, [key]);
    if (found === undefined) return { ok: true, grown: addMissing(grown, read.document, parent, addition) };
    const isLast = index === addition.path.length - 1;
    // An existing value belongs to the user and is not changed.
    if (isLast && addition.as === "member") return { ok: true, grown };
    if (found.type !== (isLast ? "array" : "object")) {
      const message = `"${addition.path.slice(0, index + 1).join(".")}" is not ${isLast ? "a list" : "an object"}`;
      return { ok: false, at: found.offset, message };
    }
    parent = found;
  }
  if (parent !== null && findOurs(parent, addition) !== null) return { ok: true, grown };
  return { ok: true, grown: addMissing(grown, read.document, parent, addition) };
}

/** Finds the value in a list, and the list's item that contains it. */
function findOurs(list: Node, { within, isOurs }: JsonAddition): { readonly item: Node; readonly own: Node } | null {
  for (const item of list.children ?? []) {
    const inner = within === undefined ? undefined : findNodeAtLocation(item, [within]);
    const candidates = within === undefined ? [item] : inner?.type === "array" ? (inner.children ?? []) : [];
    const own = candidates.find((node) => isOurs(getNodeValue(node)));
    if (own !== undefined) return { item, own };
  }
  return null;
}

/** Inserts the value as the last one of `parent`, formatted like the text around it. */
function addMissing(grown: GrownText, document: JsonDocument, parent: Node | null, addition: JsonAddition): GrownText {
  const { text } = grown;
  const path = addition.as === "item" ? [...addition.path, -1] : [...addition.path];
  const { content, offset } = modify(withoutMark(text), path, addition.value, {})[0]!;
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

/** A comment on the same line belongs to the value before it, so the next value goes after the comment. */
function endOfLineComment(text: string, { comments }: JsonDocument, from: number): number {
  const comment = comments.find(({ at }) => at >= from && /^[ \t]*$/.test(text.slice(from, at)));
  if (comment === undefined) return from;
  const end = comment.at + comment.length;
  return /[\r\n]/.test(text.slice(from, end)) ? from : end;
}

/** Formats a piece for this position: with the file's indentation, or on one line like the text around it. */
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

/**
 * Removes the additions wherever they are now, and lists and objects that become empty. Everything that people wrote
 * stays, including comments. `null` if the text cannot be parsed, or contains no addition.
 */
export function removeFromJson(text: string, additions: readonly JsonAddition[]): string | null {
  let left = text;
  for (const addition of additions) {
    for (;;) {
      const shorter = removeOne(left, addition);
      if (shorter === null) break;
      left = shorter;
    }
  }
  return left === text ? null : left;
}

/** Whether this is an object without members and comments. */
export function isBare(text: string): boolean {
  return /^\uFEFF?\s*\{\s*\}\s*$/.test(text);
}

function removeOne(text: string, addition: JsonAddition): string | null {
  const read = readJson(text);
  if (!read.ok || read.document.root === null) return null;
  const found = findNodeAtLocation(read.document.root, [...addition.path]);
  if (found === undefined) return null;
  if (addition.as === "member") return addition.isOurs(getNodeValue(found)) ? cut(text, read.document, found) : null;
  const ours = found.type === "array" ? findOurs(found, addition) : null;
  if (ours === null) return null;
  // The user may have added values next to Remand's; otherwise the whole item is Remand's.
  const isShared = ours.own.parent!.children!.length > 1;
  return cut(text, read.document, isShared ? ours.own : ours.item);
}

/**
 * Cuts out a value with its key and its comma, and the lists and objects around it that become empty; the outermost
 * object stays. `modify` removes comments, too, and is wrong at the end of a list.
 */
function cut(text: string, document: JsonDocument, value: Node): string {
  const hasComment = (from: number, to: number): boolean => document.comments.some(({ at }) => at >= from && at < to);
  const commaIn = (from: number, to: number): number | undefined =>
    document.commas.find((comma) => comma >= from && comma < to);
  let node = memberOf(value);
  let holder = node.parent!;
  const isAlone = (): boolean =>
    holder.children!.length === 1 && !hasComment(holder.offset, node.offset) && !hasComment(endOf(node), endOf(holder));
  while (holder.parent !== undefined && isAlone()) {
    node = memberOf(holder);
    holder = node.parent!;
  }
  const siblings = holder.children!;
  const index = siblings.indexOf(node);
  const before = index === 0 ? holder.offset + 1 : endOf(siblings[index - 1]!);
  const after = index === siblings.length - 1 ? endOf(holder) - 1 : siblings[index + 1]!.offset;
  const [commaBefore, commaAfter] = [commaIn(before, node.offset), commaIn(endOf(node), after)];
  const comma = commaAfter ?? commaBefore;
  // Removes the blanks before the value, unless they contain a comment.
  const blanks = commaAfter === undefined || commaBefore === undefined ? before : commaBefore + 1;
  const from = hasComment(before, node.offset) ? node.offset : blanks;
  const to = siblings.length === 1 && !hasComment(endOf(node), after) ? after : endOf(node);
  const spans = [{ at: from, length: to - from }];
  if (comma !== undefined && (comma < from || comma >= to)) spans.push({ at: comma, length: 1 });
  return without(
    text,
    spans.toSorted((a, b) => a.at - b.at),
  );
}

/** A value with its key, if it has one. */
const memberOf = (value: Node): Node => (value.parent?.type === "property" ? value.parent : value);

/** A parsed JSON text for editing: its tree, and the parts that the tree leaves out. */
export interface JsonDocument {
  /** `null`: the text has only blanks and comments. */
  readonly root: Node | null;
  readonly comments: readonly AddedSpan[];
  readonly commas: readonly number[];
}

export type JsonRead =
  | { readonly ok: true; readonly document: JsonDocument }
  | { readonly ok: false; readonly at: number; readonly message: string };

/**
 * Parses JSON with comments and trailing commas, like the clients that own such files. Any other error is reported,
 * because a file that was misread must not be edited.
 */
export function readJson(source: string): JsonRead {
  const text = withoutMark(source);
  const comments: AddedSpan[] = [];
  const commas: number[] = [];
  let depth = 0;
  // Checked before parsing, because the parser is recursive and its stack is finite.
  for (const { at, length } of tokensOf(text)) {
    const char = text[at]!;
    if (char === "/") comments.push({ at, length });
    else if (char === ",") commas.push(at);
    else if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") depth--;
    if (depth > MAX_DEPTH) return { ok: false, at, message: "nested too deeply" };
  }
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true }) ?? null;
  const [first] = errors;
  if (first !== undefined) return { ok: false, at: first.offset, message: errorText(first.error) };
  const repeated = root === null ? null : findRepeatedKey(root);
  if (repeated === null) return { ok: true, document: { root, comments, commas } };
  const message = `the key "${String(repeated.value).slice(0, 60)}" is there twice`;
  return { ok: false, at: repeated.offset, message };
}

/** A value at a path; `undefined` if the text cannot be parsed or the path does not exist. */
export function valueInJson(text: string, path: readonly string[]): unknown {
  const read = readJson(text);
  if (!read.ok || read.document.root === null) return undefined;
  return findNodeAtLocation(read.document.root, [...path])?.value as unknown;
}

/** Replaces the byte order mark with a blank, so that positions do not change. */
const withoutMark = (text: string): string => text.replace(/^\uFEFF/, " ");

const endOf = ({ offset, length }: Node): number => offset + length;

/** More than the depth of any settings file. */
const MAX_DEPTH = 200;

function* tokensOf(text: string): Generator<AddedSpan> {
  const scanner = createScanner(text);
  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan())
    yield { at: scanner.getTokenOffset(), length: scanner.getTokenLength() };
}

function findRepeatedKey(node: Node): Node | null {
  const keys = new Set<unknown>();
  for (const child of node.children ?? []) {
    const [key, value] = child.type === "property" ? child.children! : [undefined, child];
    if (key !== undefined && keys.has(key.value)) return key;
    keys.add(key?.value);
    const inner = value === undefined ? null : findRepeatedKey(value);
    if (inner !== null) return inner;
  }
  return null;
}

/** `ColonExpected` → `colon expected` */
function errorText(code: number): string {
  return printParseErrorCode(code)
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .trim();
}
