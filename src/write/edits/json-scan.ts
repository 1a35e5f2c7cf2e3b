/** A value of a JSON text, and where it stands in it. */
export interface JsonNode {
  readonly kind: "object" | "array" | "other";
  readonly start: number;
  readonly end: number;
  readonly members: readonly JsonMember[];
  /** What a plain value says; of an object or a list, nothing. */
  readonly value: unknown;
}

/** A member of an object, or an item of a list, whose key is empty. */
export interface JsonMember {
  readonly key: string;
  /** Where the key begins; of an item, the value. */
  readonly start: number;
  readonly node: JsonNode;
}

export type JsonScan =
  | { readonly ok: true; /** `null`: there is nothing but blanks and comments. */ readonly root: JsonNode | null }
  | { readonly ok: false; readonly at: number; readonly message: string };

/**
 * Where everything in a JSON text stands. Comments and a comma after the last item are let pass, as the clients that
 * read such files do; everything else must be JSON, because what is not understood must not be edited.
 */
export function scanJson(text: string): JsonScan {
  const cursor: Cursor = { text, at: text.startsWith("\uFEFF") ? 1 : 0 };
  try {
    skipBlanks(cursor);
    if (cursor.at === text.length) return { ok: true, root: null };
    const root = scanValue(cursor, 0);
    skipBlanks(cursor);
    if (cursor.at < text.length) fail(cursor, "something stands behind the end");
    return { ok: true, root };
  } catch (error) {
    if (error instanceof Fault) return { ok: false, at: error.at, message: error.message };
    throw error;
  }
}

/** The member of an object; `undefined` where there is none. */
export function memberOf(node: JsonNode | null | undefined, key: string): JsonMember | undefined {
  return node?.kind === "object" ? node.members.find((member) => member.key === key) : undefined;
}

interface Cursor {
  readonly text: string;
  at: number;
}

class Fault extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

function fail(cursor: Cursor, message: string): never {
  throw new Fault(cursor.at, message);
}

/** Deeper than this nobody writes settings, and a parser's stack is finite. */
const DEEPEST = 200;

function scanValue(cursor: Cursor, depth: number): JsonNode {
  if (depth > DEEPEST) fail(cursor, "it is nested too deeply");
  const start = cursor.at;
  const char = cursor.text[start];
  if (char === "{" || char === "[") {
    const members = scanMembers(cursor, depth, char === "{");
    return { kind: char === "{" ? "object" : "array", start, end: cursor.at, members, value: null };
  }
  const value = char === '"' ? scanString(cursor) : scanWord(cursor);
  return { kind: "other", start, end: cursor.at, members: [], value };
}

function scanMembers(cursor: Cursor, depth: number, isObject: boolean): JsonMember[] {
  const close = isObject ? "}" : "]";
  const members: JsonMember[] = [];
  const keys = new Set<string>();
  cursor.at++;
  for (;;) {
    skipBlanks(cursor);
    if (cursor.text[cursor.at] === close) break;
    const start = cursor.at;
    const key = isObject ? scanKey(cursor) : "";
    if (keys.has(key) && isObject) throw new Fault(start, `the key "${key.slice(0, 60)}" is there twice`);
    keys.add(key);
    members.push({ key, start, node: scanValue(cursor, depth + 1) });
    skipBlanks(cursor);
    const next = cursor.text[cursor.at];
    if (next === ",") cursor.at++;
    else if (next !== close) fail(cursor, `a comma or ${close} is missing`);
  }
  cursor.at++;
  return members;
}

function scanKey(cursor: Cursor): string {
  if (cursor.text[cursor.at] !== '"') fail(cursor, "a key in double quotes is missing");
  const key = scanString(cursor);
  skipBlanks(cursor);
  if (cursor.text[cursor.at] !== ":") fail(cursor, "a colon is missing");
  cursor.at++;
  skipBlanks(cursor);
  return key;
}

function scanString(cursor: Cursor): string {
  const found = /"(?:[^"\\\r\n]|\\.)*"/y;
  found.lastIndex = cursor.at;
  const literal = found.exec(cursor.text)?.[0];
  if (literal === undefined) fail(cursor, "a string does not end");
  const value = parsed(literal);
  if (typeof value !== "string") fail(cursor, "a string holds what none may hold");
  cursor.at += literal.length;
  return value;
}

function scanWord(cursor: Cursor): unknown {
  const found = /[\w.+-]+/y;
  found.lastIndex = cursor.at;
  const literal = found.exec(cursor.text)?.[0] ?? "";
  const value = parsed(literal);
  if (value === undefined) fail(cursor, "a value is missing");
  cursor.at += literal.length;
  return value;
}

function parsed(literal: string): unknown {
  try {
    return JSON.parse(literal);
  } catch {
    return undefined;
  }
}

function skipBlanks(cursor: Cursor): void {
  const blank = /(?:[ \t\r\n]+|\/\/[^\r\n]*|\/\*[^]*?\*\/)*/y;
  blank.lastIndex = cursor.at;
  cursor.at += blank.exec(cursor.text)?.[0].length ?? 0;
}
