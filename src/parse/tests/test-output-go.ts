import {
  type OutputFailure,
  type RanFile,
  type RecognizedOutput,
  detailIn,
  testCounts,
  testFailure,
} from "./test-output-parts.ts";

/**
 * ```
 * --- FAIL: TestOuter (0.00s)
 *     --- FAIL: TestOuter/inner (0.00s)
 *         a_test.go:12: got 1, want 2
 * FAIL	example.com/a	0.003s
 * ok  	example.com/b	0.002s
 * ?   	example.com/c	[no test files]
 * ```
 * Without `-v` only failed tests are named, so the number of tests is unknown.
 */
export function readGo(lines: readonly string[], folder: string): RecognizedOutput | null {
  const packages = lines.flatMap((line) => /^(ok  |FAIL|\?   )\t(\S+)(?:\t(.*)| (\[.*\]))?$/.exec(line) ?? []).length;
  if (packages === 0) return null;
  const seen = { PASS: 0, FAIL: 0, SKIP: 0 };
  const failed: { name: string; at: number }[] = [];
  let ranPackage = false;
  for (const [at, line] of lines.entries()) {
    const result = /^\s*--- (PASS|FAIL|SKIP): (\S+) \([\d.]+s\)$/.exec(line);
    if (result !== null) {
      seen[result[1] as keyof typeof seen]++;
      if (result[1] === "FAIL") failed.push({ name: result[2]!, at });
    }
    ranPackage ||= line.startsWith("ok  \t") && !/\[no tests? (?:to run|files)\]/.test(line);
  }
  // A test with a failed part is left out: the part's failure says more.
  const parents = new Set(failed.flatMap(({ name }) => ancestorsOf(name)));
  const failures = failed
    .filter(({ name }) => !parents.has(name))
    .map(({ name, at }) => failureAt(lines, name, at) ?? panicBelow(lines, name, at, folder));
  const isVerbose = lines.some((line) => /^=== RUN\s/.test(line));
  const counts = isVerbose ? testCounts(seen.PASS, seen.FAIL, seen.SKIP) : null;
  return {
    runner: "go test",
    counts,
    isCountedByLine: true,
    ranTests: isVerbose ? seen.PASS + seen.FAIL > 0 : ranPackage || failed.length > 0,
    failures,
    files: lines.flatMap((line): RanFile[] => {
      const ran = /^(ok  |FAIL)\t(\S+)\t(?!\[no tests? )/.exec(line);
      return ran === null ? [] : [{ file: ran[2]!, outcome: ran[1] === "FAIL" ? "failed" : "passed" }];
    }),
    notLoaded: lines.flatMap((line) => /^FAIL\t(\S+) \[(?:build|setup) failed\]$/.exec(line)?.[1] ?? []),
  };
}

function ancestorsOf(name: string): string[] {
  const parts = name.split("/").slice(0, DEEPEST);
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}

const DEEPEST = 20;

/** Reads a test's output: it is below the result, and with `-v` above it. */
function failureAt(lines: readonly string[], name: string, at: number): OutputFailure | null {
  for (const step of [1, -1]) {
    for (let near = at + step; near >= 0 && near < lines.length && Math.abs(near - at) < NEAR; near += step) {
      const line = lines[near]!;
      if (/^\s*(?:---|===) |^(?:FAIL|ok|PASS)\b/.test(line)) break;
      const said = /^\s+(\S+\.go):(\d{1,7}): ?(.*)$/.exec(line);
      if (said !== null)
        return testFailure(
          name,
          said[3]!.trim() === "" ? wordsBelow(lines, near) : said[3]!,
          { file: said[1]!, line: Number(said[2]) },
          detailIn(lines, near, endOfStory(lines, near)),
        );
    }
  }
  return null;
}

/**
 * ```
 * --- FAIL: TestPath (0.00s)
 * panic: not yet [recovered]
 *
 * goroutine 8 [running]:
 * example.com/mux.cleanPath({0x9752e8?, 0x846b4f?})
 * 	/app/mux.go:525 +0x27
 * ```
 * A panic ends the program, so it belongs to the last named test.
 */
function panicBelow(lines: readonly string[], name: string, at: number, folder: string): OutputFailure {
  let from = at + 1;
  while (from < at + DEEPEST && /^\s*--- FAIL: /.test(lines[from] ?? "")) from++;
  const said = /^(panic: .+?)(?: \[recovered(?:, repanicked)?\])?$/.exec(lines[from] ?? "")?.[1];
  if (said === undefined) return testFailure(name, "failed", null);
  const root = `${folder.replace(/\/$/, "")}/`;
  const frames: { readonly text: string; readonly file: string; readonly line: number }[] = [];
  const to = Math.min(lines.length, from + MOST_TRACE);
  for (let next = from + 1; next < to && !/^(?:FAIL|ok {2})\t/.test(lines[next]!); next++) {
    const frame = /^\t(\S+\.go):(\d{1,7}) \+0x[0-9a-f]+$/.exec(lines[next]!);
    if (frame === null || !frame[1]!.startsWith(root)) continue;
    const called = lines[next - 1]!.replace(/^.*\/|\([^()]*\)$/g, "");
    const file = frame[1]!.slice(root.length);
    frames.push({ text: `at ${called} (${file}:${frame[2]})`, file, line: Number(frame[2]) });
    if (frames.length === MOST_FRAMES) break;
  }
  return testFailure(
    name,
    said,
    frames.findLast(({ file }) => file.endsWith("_test.go")) ?? frames[0] ?? null,
    frames.map(({ text }) => text).join("\n"),
  );
}

const MOST_FRAMES = 5;
const MOST_TRACE = 200;

/**
 * Returns the message below a line: assertion libraries begin with an empty line, and print the message further below.
 */
function wordsBelow(lines: readonly string[], at: number): string {
  const near = lines.slice(at + 1, at + 10).map((line) => line.trim());
  return near.flatMap((line) => /^Error:\s+(\S.*)$/.exec(line)?.[1] ?? [])[0] ?? near[0] ?? "failed";
}

const NEAR = 50;

function endOfStory(lines: readonly string[], from: number): number {
  let to = from;
  while (to < Math.min(lines.length, from + NEAR) && !/^\s*(?:---|===) |^(?:FAIL|ok|PASS)\b/.test(lines[to]!)) to++;
  return to;
}

/** Passes lines on, unwrapped if `go test -json` has wrapped them. */
export interface GoUnwrapper {
  push(line: string): void;
  end(): void;
}

/**
 * Unwraps the text in `go test -json`, which is what `go test -v` prints, so that it is read as such. Packages that run
 * in parallel print alternately: the lines of each are held until it ends, or until they are too many.
 */
export function createGoUnwrapper(handOn: (line: string) => void): GoUnwrapper {
  const held = new Map<string, string>();
  const letGo = (name: string): void => {
    const text = held.get(name) ?? "";
    held.delete(name);
    if (text !== "") for (const line of text.replace(/\n$/, "").split("\n")) handOn(line);
  };
  return {
    push(line) {
      const event = line.startsWith('{"') && line.includes('"Action":') ? goEvent(line) : null;
      if (event === null) return handOn(line);
      held.set(event.package, (held.get(event.package) ?? "") + event.output);
      if (event.isLast || held.get(event.package)!.length > MOST_HELD) letGo(event.package);
      if (held.size > MOST_PACKAGES) letGo(held.keys().next().value!);
    },
    end() {
      for (const name of held.keys()) letGo(name);
    },
  };
}

const MOST_HELD = 256 * 1024;
const MOST_PACKAGES = 100;

function goEvent(line: string): { package: string; output: string; isLast: boolean } | null {
  try {
    const { Action, Package, Test, Output } = JSON.parse(line) as Record<string, unknown>;
    if (typeof Action !== "string") return null;
    return {
      package: typeof Package === "string" ? Package : "",
      output: typeof Output === "string" ? Output : "",
      isLast: Test === undefined && ["pass", "fail", "skip"].includes(Action),
    };
  } catch {
    // A similar line of another program.
    return null;
  }
}
