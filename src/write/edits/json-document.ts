import {
  type Node,
  type ParseError,
  createScanner,
  findNodeAtLocation,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import type { AddedSpan } from "./added-text.ts";

/** A JSON text that may be edited: its tree, and what the tree leaves out. */
export interface JsonDocument {
  /** `null`: the text holds only blanks and comments. */
  readonly root: Node | null;
  readonly comments: readonly AddedSpan[];
  readonly commas: readonly number[];
}

export type JsonRead =
  | { readonly ok: true; readonly document: JsonDocument }
  | { readonly ok: false; readonly at: number; readonly message: string };

/**
 * Reads JSON with comments and trailing commas, as the clients that own such files do. Any other fault is an error,
 * because a file that was misread must not be edited.
 */
export function readJson(source: string): JsonRead {
  const text = withoutMark(source);
  const comments: AddedSpan[] = [];
  const commas: number[] = [];
  let depth = 0;
  // This loop runs first because the parser calls itself for each level, and its stack is finite.
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

/** A plain value at a path; `undefined` where the text cannot be read or has none. */
export function valueInJson(text: string, path: readonly string[]): unknown {
  const read = readJson(text);
  if (!read.ok || read.document.root === null) return undefined;
  return findNodeAtLocation(read.document.root, [...path])?.value as unknown;
}

/** A blank in place of the byte order mark, so that positions stay as they are. */
export const withoutMark = (text: string): string => text.replace(/^\uFEFF/, " ");

export const endOf = ({ offset, length }: Node): number => offset + length;

/** Deeper than any settings file. */
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
