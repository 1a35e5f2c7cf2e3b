/** Where code that was compiled or bundled stood before. */
export interface SourceMap {
  original(line: number, column: number): { readonly source: string; readonly line: number } | null;
}

/** Reads a source map (version 3) given as text; `null` where it is none. */
export function readSourceMap(text: string): SourceMap | null {
  const data = parsed(text);
  if (data === null) return null;
  const lines = data.mappings.split(";");
  const rows: (readonly Segment[])[] = [];
  const before = { source: 0, line: 0 };
  return {
    original(line, column) {
      // Each line's positions count on from the one before, so they are read in order, and once.
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
    const numbers = decoded(part);
    column += numbers[0] ?? 0;
    if (numbers.length < 4) continue;
    before.source += numbers[1]!;
    before.line += numbers[2]!;
    found.push({ column, source: before.source, line: before.line });
  }
  return found;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Base64 digits of five bits each, the lowest first; the first bit of a number is its sign. */
function decoded(part: string): number[] {
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

function parsed(text: string): { mappings: string; sources: readonly string[]; root: string } | null {
  try {
    const data = JSON.parse(text.replace(/^\)\]\}'[^\n]*\n/, "")) as Record<string, unknown> | null;
    if (data === null || typeof data !== "object" || typeof data["mappings"] !== "string") return null;
    const sources = Array.isArray(data["sources"])
      ? data["sources"].map((source) => (typeof source === "string" ? source : ""))
      : [];
    const root = typeof data["sourceRoot"] === "string" ? data["sourceRoot"] : "";
    return { mappings: data["mappings"], sources, root: root === "" || root.endsWith("/") ? root : `${root}/` };
  } catch {
    // Text from outside that is no JSON is no source map.
    return null;
  }
}
