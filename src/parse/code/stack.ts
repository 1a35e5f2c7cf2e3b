/** A location as the output writes it: its path is not resolved to the project yet. */
export interface RawFrame {
  readonly path: string;
  readonly line: number;
  readonly column: number | null;
  readonly symbol: string | null;
}

/**
 * Reads the locations in lines, in the order of the output: frames of Node, Python, Go, Rust and Java, and any other
 * path with a line number. Python prints the innermost frame last, so its tracebacks are reversed.
 */
export function readStack(lines: readonly string[]): RawFrame[] {
  const frames: RawFrame[] = [];
  let traceback: RawFrame[] = [];
  /** The last line that was a Python frame. */
  let last = "";
  for (const [at, line] of lines.entries()) {
    const python = pythonFrame(line);
    if (python !== null) {
      traceback.push(python);
      last = line;
      continue;
    }
    const found = javaFrame(line) ?? goFrame(line, lines[at - 1] ?? "") ?? scriptFrame(line) ?? otherFrame(line);
    // Lines between two frames of a traceback are code of the first; pytest prints it without an indent.
    const isOver = PYTEST_FRAME.test(last) ? /^(?:=+|_{3,}) \S/.test(line) : /^\S/.test(line);
    if (traceback.length > 0 && (found !== null || isOver)) {
      frames.push(...traceback.reverse());
      traceback = [];
    }
    if (found !== null) frames.push(found);
  }
  return [...frames, ...traceback.reverse()];
}

const frame = (path: string, line: string, column: string | undefined, symbol: string | undefined): RawFrame => ({
  path,
  line: Number(line),
  column: column === undefined ? null : Number(column),
  symbol: symbol === undefined || symbol === "" || symbol.includes("<anonymous>") ? null : symbol,
});

/** `tests/test_cart.py:12: in total`, `cart.py:3: ValueError`, or `cart.py:9: ` before the code of the next frame. */
const PYTEST_FRAME = /^([^\s:][^:]{0,400}\.pyi?):(\d{1,7}): ?(?:in (\S+)|[A-Z]\w*(?:Error|Exception)?$|$)/;

function pythonFrame(line: string): RawFrame | null {
  const long = /^\s*(?:E\s+)?File "([^"]{1,500})", line (\d{1,7})(?:, in (.+))?$/.exec(line);
  if (long !== null) return frame(long[1]!, long[2]!, undefined, long[3]);
  const short = PYTEST_FRAME.exec(line);
  return short === null ? null : frame(short[1]!, short[2]!, undefined, short[3]);
}

/** `at com.shop.Cart.total(Cart.java:12)`: the package gives the folder. */
function javaFrame(line: string): RawFrame | null {
  const found =
    /^\s*(?:\w+: )?at ([\w.$/@<>]{1,300})\.([\w$<>]{1,200})\((\w+\.(?:java|kt|scala|groovy)):(\d{1,7})\)/.exec(line);
  if (found === null) return null;
  const parts = found[1]!.replace(/^.*\//, "").split(".").slice(0, -1);
  return frame([...parts, found[3]!].join("/"), found[4]!, undefined, found[2]);
}

/** ` /src/cart/cart.go:12 +0x1d`, with the function on the line above. */
function goFrame(line: string, before: string): RawFrame | null {
  const found = /^\s+(\S{1,500}\.go):(\d{1,7})(?: \+0x[\da-f]+|:.*)?$/.exec(line);
  if (found === null) return null;
  const symbol = /^\S*?\.?(\w+)\([^()]*\)$/.exec(before.trim())?.[1];
  return frame(found[1]!, found[2]!, undefined, symbol);
}

/** `at name (path:1:2)`, `at async path:1:2`, `❯ name path:1:2`, and Firefox's `name@path:1:2`. */
function scriptFrame(line: string): RawFrame | null {
  const text = line.trim();
  const end = /:(\d{1,7}):(\d{1,7})\)?$/.exec(text);
  if (end === null || !/^(?:at|❯|\d+: )\s|^[\w$.<>/]*@/.test(text)) return null;
  const before = text.slice(0, end.index).replace(/^(?:at|❯)\s+(?:async\s+|new\s+)*/, "");
  const cut = text.endsWith(")") ? before.lastIndexOf("(") : Math.max(before.lastIndexOf(" "), before.indexOf("@"));
  const symbol = before.slice(0, Math.max(0, cut)).trim().split(" ")[0]!.split(".").at(-1);
  const path = before.slice(cut + 1);
  return path === "" ? null : frame(path, end[1]!, end[2], symbol);
}

/** Any other `path.ext:12:5`, `path.ext(12,5)` or webpack's `./path.ext 12:5-9`. */
function otherFrame(line: string): RawFrame | null {
  if (line.length > 1000) return null;
  const found =
    /((?:[A-Za-z]:[\\/]|file:\/\/|[\w.@~/\\-])[\w.@~+/\\[\]() -]{0,300}?\.[A-Za-z]{1,6}):(\d{1,7})(?::(\d{1,7}))?(?!\w)/.exec(
      line,
    ) ??
    /([\w.@~/\\-][\w.@~+/\\-]{0,300}\.[A-Za-z]{1,6})\((\d{1,7}),(\d{1,7})\)/.exec(line) ??
    /(?:^| )(\.{1,2}\/[\w.@~+/-]{1,300}\.[A-Za-z]{1,6}) (\d{1,7}):(\d{1,7})(?:-\d+)?/.exec(line);
  if (found === null) return null;
  const path = found[1]!.replace(/^(?:at|in|from|-->|❯)\s+/, "").replace(/^.*\s(?=\/|[A-Za-z]:[\\/])/, "");
  return frame(path, found[2]!, found[3], undefined);
}

/** Maps positions in compiled or bundled code to the original source. */
export interface SourceMap {
  original(line: number, column: number): { readonly source: string; readonly line: number } | null;
}

/** Reads a source map (version 3); `null` if the text is not one. */
export function readSourceMap(text: string): SourceMap | null {
  const data = parseSourceMap(text);
  if (data === null) return null;
  const lines = data.mappings.split(";");
  const rows: (readonly Segment[])[] = [];
  const before = { source: 0, line: 0 };
  return {
    original(line, column) {
      // Positions of a line are relative to the previous line, so lines are decoded in order, and once.
      while (rows.length < Math.min(line, lines.length)) rows.push(segmentsOf(lines[rows.length]!, before));
      const segment = (rows[line - 1] ?? []).findLast((each) => each.column <= Math.max(0, column - 1));
      const source = segment === undefined ? undefined : data.sources[segment.source];
      return segment === undefined || source === undefined
        ? null
        : { source: data.root + source, line: segment.line + 1 };
    },
  };
}

interface Segment {
  readonly column: number;
  readonly source: number;
  readonly line: number;
}

function segmentsOf(line: string, before: { source: number; line: number }): Segment[] {
  const found: Segment[] = [];
  let column = 0;
  for (const part of line.split(",")) {
    const numbers = decodeSegment(part);
    column += numbers[0] ?? 0;
    if (numbers.length < 4) continue;
    before.source += numbers[1]!;
    before.line += numbers[2]!;
    found.push({ column, source: before.source, line: before.line });
  }
  return found;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Decodes base64 digits of five bits each, the lowest first; the first bit of a number is its sign. */
function decodeSegment(part: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (const char of part) {
    const digit = DIGITS.indexOf(char);
    if (digit < 0) return [];
    value += (digit & 31) * 2 ** shift;
    shift += 5;
    if (digit >= 32) continue;
    numbers.push((value % 2 === 1 ? -1 : 1) * Math.floor(value / 2));
    value = 0;
    shift = 0;
  }
  return numbers;
}

function parseSourceMap(text: string): { mappings: string; sources: readonly string[]; root: string } | null {
  try {
    const data = JSON.parse(text.replace(/^\)\]\}'[^\n]*\n/, "")) as Record<string, unknown> | null;
    if (data === null || typeof data !== "object" || typeof data["mappings"] !== "string") return null;
    const sources = Array.isArray(data["sources"])
      ? data["sources"].map((source) => (typeof source === "string" ? source : ""))
      : [];
    const root = typeof data["sourceRoot"] === "string" ? data["sourceRoot"] : "";
    return { mappings: data["mappings"], sources, root: root === "" || root.endsWith("/") ? root : `${root}/` };
  } catch {
    // A source map from outside may be invalid JSON.
    return null;
  }
}
