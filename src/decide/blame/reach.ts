import type { BlameMaterial, CodeFile, CodeSymbol } from "../../core/blame/change.ts";
import type { Failure } from "../../core/blame/failure.ts";

/** How near code is to a test: 1 for the test itself, less with each call on the way. */
export interface Reach {
  /** Returns how strongly the test leads to a line, by the names used on the way; 0 if there is no way. */
  at(file: string, line: number): number;
  /** Returns how many imports away a file is; `null` if no import leads there. */
  importsTo(file: string): number | null;
}

/** The weight of each call on the way. A name with several definitions leads to each of them with less weight. */
const PER_CALL = 0.75;
const PER_INDIRECT_NAME = 0.5;
const MOST_VISITS = 4000;
const LEAST = 0.01;

type CodeFiles = ReadonlyMap<string, CodeFile>;

/** The definitions of each name: built once, used for every test. */
export interface NameIndex {
  readonly byName: ReadonlyMap<string, readonly SymbolLocation[]>;
  readonly files: CodeFiles;
}

interface SymbolLocation {
  readonly file: string;
  readonly symbol: CodeSymbol;
}

export function nameIndex({ files }: BlameMaterial): NameIndex {
  const byName = new Map<string, SymbolLocation[]>();
  for (const file of files.values()) {
    for (const symbol of file.symbols) {
      if (symbol.kind === "test") continue;
      const places = byName.get(symbol.name);
      if (places === undefined) byName.set(symbol.name, [{ file: file.path, symbol }]);
      else places.push({ file: file.path, symbol });
    }
  }
  return { byName, files };
}

/** Follows names from a test through the code that it imports. */
export function reachOf(index: NameIndex, testFile: string, body: CodeSymbol | null): Reach {
  const distances = importDistances(index.files, testFile);
  const best = new Map<CodeSymbol, number>();
  const queue: { place: SymbolLocation; weight: number }[] = [];
  const file = index.files.get(testFile);
  const whole: CodeSymbol = { name: "", kind: "test", start: 1, end: file?.names.length ?? 1 };
  // A test whose lines were not found counts as its whole file, with less weight.
  queue.push({ place: { file: testFile, symbol: body ?? whole }, weight: body === null ? 0.6 : 1 });
  for (let visits = 0; queue.length > 0 && visits < MOST_VISITS; visits++) {
    const { place, weight } = takeBest(queue);
    if ((best.get(place.symbol) ?? 0) >= weight) continue;
    best.set(place.symbol, weight);
    for (const [next, share] of callsFrom(index, place, distances)) {
      const reached = weight * share;
      if (reached > LEAST && reached > (best.get(next.symbol) ?? 0)) queue.push({ place: next, weight: reached });
    }
  }
  const spans = spansByFile(index.files, best);
  const data = dataWeights(index.files, spans, distances);
  return {
    at: (path, line) => {
      let most = data.get(path) ?? 0;
      for (const { start, end, weight } of spans.get(path) ?? [])
        if (line >= start && line <= end && weight > most) most = weight;
      return most;
    },
    importsTo: (path) => distances.get(path) ?? null,
  };
}

function takeBest(queue: { place: SymbolLocation; weight: number }[]): { place: SymbolLocation; weight: number } {
  let at = 0;
  for (let each = 1; each < queue.length; each++) if (queue[each]!.weight > queue[at]!.weight) at = each;
  const found = queue[at]!;
  queue[at] = queue.at(-1)!;
  queue.pop();
  return found;
}

/** Returns where the names of a part may be defined: in its file's imports, or else anywhere within reach. */
function callsFrom(
  index: NameIndex,
  { file, symbol }: SymbolLocation,
  distances: ReadonlyMap<string, number>,
): [SymbolLocation, number][] {
  const code = index.files.get(file);
  if (code === undefined) return [];
  const near = new Set([file, ...code.imports]);
  const names = new Set<string>();
  for (let line = symbol.start; line <= symbol.end; line++)
    for (const name of code.names[line - 1] ?? []) names.add(name);
  const found: [SymbolLocation, number][] = [];
  for (const name of names) {
    const places = (index.byName.get(name) ?? []).filter(
      (place) => place.symbol !== symbol && distances.has(place.file),
    );
    const direct = places.filter((place) => near.has(place.file));
    const chosen = direct.length > 0 ? direct : places;
    const share = (direct.length > 0 ? PER_CALL : PER_CALL * PER_INDIRECT_NAME) / Math.sqrt(Math.max(1, chosen.length));
    for (const place of chosen.slice(0, 8)) found.push([place, share]);
  }
  return found;
}

function spansByFile(
  files: CodeFiles,
  best: ReadonlyMap<CodeSymbol, number>,
): Map<string, { start: number; end: number; weight: number }[]> {
  const spans = new Map<string, { start: number; end: number; weight: number }[]>();
  for (const file of files.values()) {
    const reached = file.symbols.flatMap((symbol) => {
      const weight = best.get(symbol);
      // A type is named to use one of its members, and which one is unknown.
      return weight === undefined
        ? []
        : [{ start: symbol.start, end: symbol.end, weight: symbol.kind === "type" ? weight * 0.6 : weight }];
    });
    if (reached.length > 0) spans.set(file.path, reached);
  }
  return spans;
}

/** Returns the weights of data files: one step below the nearest code that names them. */
function dataWeights(
  files: CodeFiles,
  spans: ReadonlyMap<string, readonly { readonly weight: number }[]>,
  distances: ReadonlyMap<string, number>,
): Map<string, number> {
  const weights = new Map<string, number>();
  for (const file of files.values()) {
    if (!distances.has(file.path)) continue;
    const most = Math.max(0, ...(spans.get(file.path) ?? []).map(({ weight }) => weight));
    for (const path of file.imports) {
      if (DATA.test(path)) weights.set(path, Math.max(weights.get(path) ?? 0, most * PER_CALL));
    }
  }
  return weights;
}

const DATA = /\.(?:json|ya?ml|toml|csv|tsv|txt|sql|xml|ini|env|graphql|proto|html|tmpl|hbs)$/;

function importDistances(files: CodeFiles, start: string): Map<string, number> {
  const distances = new Map([[start, 0]]);
  const queue = [start];
  for (let at = 0; at < queue.length; at++) {
    const from = queue[at]!;
    for (const next of files.get(from)?.imports ?? []) {
      if (distances.has(next)) continue;
      distances.set(next, distances.get(from)! + 1);
      queue.push(next);
    }
  }
  return distances;
}

/** Finds the lines of a failing test: by its title, or else by the line that failed. */
export function testBody(file: CodeFile | undefined, failure: Failure): CodeSymbol | null {
  if (file === undefined) return null;
  const title = lastTitle(failure.test ?? "");
  const tests = file.symbols.filter((symbol) => symbol.kind === "test" || symbol.name === title);
  const named = tests.filter((symbol) => symbol.name === title);
  const at = failure.line;
  const around = at === null ? [] : tests.filter((symbol) => symbol.start <= at && symbol.end >= at);
  return smallest(named.filter((symbol) => around.includes(symbol))) ?? smallest(named) ?? smallest(around);
}

/** Returns the title at the end of `outer > inner > name` or `file::Class::name[case]`. */
function lastTitle(name: string): string {
  const last = name
    .split(/ [>›] |::/)
    .at(-1)!
    .trim()
    .replace(/\[[^\]]*\]$/, "");
  return /^[\w.]+$/.test(last) ? last.split(".").at(-1)! : last;
}

function smallest(symbols: readonly CodeSymbol[]): CodeSymbol | null {
  let best: CodeSymbol | null = null;
  for (const symbol of symbols) if (best === null || symbol.end - symbol.start < best.end - best.start) best = symbol;
  return best;
}
