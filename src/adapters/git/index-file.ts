import { createHash } from "node:crypto";

/** One entry of an index: git's data about a file. */
export interface IndexEntry {
  readonly path: Buffer;
  /** The entry as stored; `null`: the entry is removed. */
  readonly bytes: Buffer | null;
}

/**
 * Replaces entries of an index file. The index has an entry for each path, in order (gitformat-index). Git reads and
 * writes the whole file to change ten entries; this copies the others unchanged. `null` if the format is one that only
 * git should change.
 */
export function replaceEntries(index: Buffer, entries: readonly IndexEntry[], idBytes: IdBytes): Buffer | null {
  const layout = layoutOf(index, idBytes);
  const tree = layout === null ? null : treeExtension(index, layout.end, idBytes);
  if (layout === null || tree === null) return null;
  const { starts, end } = layout;
  const parts: Buffer[] = [];
  let copied = HEADER;
  let count = starts.length;
  for (const { path, bytes } of sortByPath(entries)) {
    const at = firstNotBefore(index, starts, path, idBytes);
    const start = starts[at] ?? end;
    const isThere = at < starts.length && pathAt(index, start, idBytes).equals(path);
    parts.push(index.subarray(copied, start));
    if (bytes !== null) parts.push(bytes);
    copied = isThere ? (starts[at + 1] ?? end) : start;
    count += (bytes === null ? 0 : 1) - (isThere ? 1 : 0);
  }
  parts.push(index.subarray(copied, end));
  const body = invalidate(tree, new Set(entries.flatMap(({ path }) => foldersOf(path.toString("latin1")))), idBytes);
  return indexOf(count, [...parts, ...body], idBytes);
}

/** Makes an index of only these files, without stat data. */
export function makeIndex(
  files: readonly { readonly path: string; readonly mode: string; readonly id: string }[],
  idBytes: IdBytes,
): Buffer {
  const entries = files.map(({ path, mode, id }): IndexEntry => {
    const name = Buffer.from(path);
    const bytes = Buffer.alloc(entryLength(name.length, idBytes));
    bytes.writeUInt32BE(Number.parseInt(mode, 8), MODE);
    bytes.write(id, STATS, "hex");
    bytes.writeUInt16BE(Math.min(name.length, LONG_NAME), STATS + idBytes);
    name.copy(bytes, STATS + idBytes + 2);
    return { path: name, bytes };
  });
  const parts = sortByPath(entries).map(({ bytes }) => bytes!);
  return indexOf(parts.length, parts, idBytes);
}

/** Returns the entries of an index; `null` if the format is one that only git should read. */
export function entriesOf(index: Buffer, idBytes: IdBytes): readonly IndexEntry[] | null {
  const layout = layoutOf(index, idBytes);
  if (layout === null) return null;
  const { starts, end } = layout;
  return Array.from(starts, (start, at) => ({
    path: pathAt(index, start, idBytes),
    bytes: index.subarray(start, starts[at + 1] ?? end),
  }));
}

/** The size of object ids: SHA-1 or SHA-256. */
export type IdBytes = 20 | 32;

export const idBytesOf = (id: string): IdBytes => (id.length === 64 ? 32 : 20);

const HEADER = 12;
/** The version that git writes by default. */
const VERSION = 2;
/** The length of the stat fields at the start of an entry: times, device, inode, mode, owner, size. */
const STATS = 40;
const MODE = 24;
/** A name of at least this length ends at its first zero byte. */
const LONG_NAME = 0xfff;
const EXTENDED = 0x4000;

/**
 * The length of an entry with its padding of one to eight zeros, so that the next one starts at a multiple of eight.
 */
const entryLength = (name: number, idBytes: IdBytes): number => (STATS + idBytes + 2 + name + 8) & ~7;

interface Layout {
  readonly starts: Uint32Array;
  /** The end of the last entry. */
  readonly end: number;
}

function layoutOf(index: Buffer, idBytes: IdBytes): Layout | null {
  if (index.length < HEADER + idBytes || index.toString("latin1", 0, 4) !== "DIRC") return null;
  if (index.readUInt32BE(4) !== VERSION) return null;
  const starts = new Uint32Array(index.readUInt32BE(8));
  let at = HEADER;
  for (let number = 0; number < starts.length; number++) {
    if (at + STATS + idBytes + 2 > index.length) return null;
    starts[number] = at;
    if ((index.readUInt16BE(at + STATS + idBytes) & EXTENDED) !== 0) return null;
    at += entryLength(nameLength(index, at, idBytes), idBytes);
  }
  return { starts, end: at };
}

function nameLength(index: Buffer, start: number, idBytes: IdBytes): number {
  const length = index.readUInt16BE(start + STATS + idBytes) & LONG_NAME;
  const name = start + STATS + idBytes + 2;
  return length < LONG_NAME ? length : index.indexOf(0, name) - name;
}

function pathAt(index: Buffer, start: number, idBytes: IdBytes): Buffer {
  const name = start + STATS + idBytes + 2;
  return index.subarray(name, name + nameLength(index, start, idBytes));
}

function firstNotBefore(index: Buffer, starts: Uint32Array, path: Buffer, idBytes: IdBytes): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pathAt(index, starts[middle]!, idBytes).compare(path) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

const sortByPath = (entries: readonly IndexEntry[]): readonly IndexEntry[] =>
  entries.toSorted((a, b) => a.path.compare(b.path));

/**
 * Returns the cache of tree ids, by which git need not compare every file with a commit. Drops the other optional
 * extensions, which only make reading faster. `null` if there is an extension that git must not ignore.
 */
function treeExtension(index: Buffer, end: number, idBytes: IdBytes): Buffer | null {
  let tree: Buffer = Buffer.alloc(0);
  for (let at = end; at < index.length - idBytes;) {
    const name = index.toString("latin1", at, at + 4);
    const next = at + 8 + index.readUInt32BE(at + 4);
    if (!/^[A-Z]/.test(name) || next > index.length - idBytes) return null;
    if (name === "TREE") tree = index.subarray(at + 8, next);
    at = next;
  }
  return tree;
}

/**
 * Marks folders in the cache as invalid. A folder's entry is its name, a zero, the number of its files, the number of
 * folders below, and its tree's id.
 */
function invalidate(tree: Buffer, folders: ReadonlySet<string>, idBytes: IdBytes): readonly Buffer[] {
  const parts: Buffer[] = [];
  let at = 0;
  let copied = 0;
  const walk = (above: string): void => {
    const zero = tree.indexOf(0, at);
    const lineEnd = tree.indexOf("\n", zero);
    const name = tree.toString("latin1", at, zero);
    const path = above === "" ? name : `${above}/${name}`;
    const [files, below] = tree
      .toString("latin1", zero + 1, lineEnd)
      .split(" ")
      .map(Number) as [number, number];
    at = lineEnd + 1 + (files < 0 ? 0 : idBytes);
    if (files >= 0 && folders.has(path)) {
      parts.push(tree.subarray(copied, zero + 1), Buffer.from(`-1 ${below}\n`));
      copied = at;
    }
    for (let number = 0; number < below; number++) walk(path);
  };
  if (tree.length === 0) return [];
  walk("");
  const body = Buffer.concat([...parts, tree.subarray(copied)]);
  const head = Buffer.from("TREE\0\0\0\0", "latin1");
  head.writeUInt32BE(body.length, 4);
  return [head, body];
}

/** Returns the folders of a path. The top folder has an empty name. */
function foldersOf(path: string): readonly string[] {
  const parts = path.split("/").slice(0, -1);
  return ["", ...parts.map((_, last) => parts.slice(0, last + 1).join("/"))];
}

function indexOf(count: number, parts: readonly Buffer[], idBytes: IdBytes): Buffer {
  const head = Buffer.from("DIRC\0\0\0\0\0\0\0\0", "latin1");
  head.writeUInt32BE(VERSION, 4);
  head.writeUInt32BE(count, 8);
  const whole = Buffer.concat([head, ...parts, Buffer.alloc(idBytes)]);
  const end = whole.length - idBytes;
  const sum = createHash(idBytes === 32 ? "sha256" : "sha1").update(whole.subarray(0, end));
  sum.digest().copy(whole, end);
  return whole;
}
