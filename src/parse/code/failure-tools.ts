import { shortMessage } from "../tests/test-output-parts.ts";

/** One problem in an output, from one line or two. */
export interface ListedFailure {
  readonly test: string | null;
  readonly category: "test" | "build" | "type" | "lint";
  readonly message: string;
  readonly file: string | null;
  readonly line: number | null;
}

type FailureReader = (lines: readonly string[], at: number) => ListedFailure | null;

/** Reads the output of other tools, if the readers of tests and compilers found nothing. */
export function readOtherFailures(lines: readonly string[]): ListedFailure[] {
  const found = new Map<string, ListedFailure>();
  for (let at = 0; at < lines.length; at++) {
    for (const tool of TOOLS) {
      const failure = tool(lines, at);
      if (failure === null) continue;
      const key = `${failure.test}\n${failure.file}\n${failure.test === null ? failure.message : ""}`;
      if (!found.has(key)) found.set(key, failure);
      break;
    }
  }
  return [...found.values()];
}

const TOOLS: readonly FailureReader[] = [playwright, ava, webpack, vite, esbuild];

/** `  1) [chromium] › tests/a.spec.ts:3:5 › outer › name ────` */
function playwright(lines: readonly string[], at: number): ListedFailure | null {
  const head = /^\s+\d+\) (?:\[[^\]]+\] › )?(\S+?):(\d{1,7}):\d{1,7} › (.+?)[\s─]*$/.exec(lines[at]!);
  if (head === null) return null;
  return test(head[3]!.split(" › ").join(" > "), head[1]!, head[2]!, wordsBelow(lines, at));
}

/** ` ✘ [fail]: outer › name Difference …`, and the title again above the details. */
function ava(lines: readonly string[], at: number): ListedFailure | null {
  const head = /^\s*[✘✖×] \[fail\]: (.+?)(?: (Difference|Error|Rejected|Test|Value|.*\w+Error).*)?$/.exec(lines[at]!);
  if (head === null) return null;
  const title = head[1]!;
  const detail = lines.findIndex((line, index) => index > at && line.trim() === title);
  const place = detail < 0 ? null : nextPlace(lines, detail);
  return test(
    title.split(" › ").join(" > "),
    place?.file ?? null,
    place?.line ?? null,
    head[2] ?? wordsBelow(lines, detail < 0 ? at : detail),
  );
}

function nextPlace(lines: readonly string[], at: number): { file: string; line: string } | null {
  for (const line of lines.slice(at + 1, at + 8)) {
    const place = /^\s*(\S+\.\w{1,5}):(\d{1,7})(?::\d{1,7})?$/.exec(line);
    if (place !== null) return { file: place[1]!, line: place[2]! };
  }
  return null;
}

/** `ERROR in ./src/a.js 12:3-9`, with the message below it. */
function webpack(lines: readonly string[], at: number): ListedFailure | null {
  const found = /^ERROR in (\S+?)(?: (\d{1,7}):\d{1,7}(?:-[\d:]+)?|\((\d{1,7}),\d{1,7}\))?$/.exec(lines[at]!.trim());
  return found === null ? null : build(found[1]!, found[2] ?? found[3] ?? null, wordsBelow(lines, at));
}

/** `[vite]: Rollup failed to resolve import "x" from "/app/src/a.ts".` and `file: /app/src/a.ts:1:2`. */
function vite(lines: readonly string[], at: number): ListedFailure | null {
  const line = lines[at]!;
  const resolve = /failed to resolve import "[^"]*" from "([^"]+)"/i.exec(line);
  if (resolve !== null) return build(resolve[1]!, null, line.trim());
  const file = /^\s*[Ff]ile: (\S+?):(\d{1,7})(?::\d{1,7})?$/.exec(line);
  return file === null ? null : build(file[1]!, file[2]!, lines[at - 1]?.trim() ?? "");
}

/** `✘ [ERROR] sentence`, with the location some lines below it. */
function esbuild(lines: readonly string[], at: number): ListedFailure | null {
  const found = /^[✘X] \[ERROR\] (.+)$/.exec(lines[at]!.trim());
  if (found === null) return null;
  const place = lines
    .slice(at + 1, at + 5)
    .map((line) => /^\s*(\S+?):(\d{1,7}):\d{1,7}:?$/.exec(line))
    .find((each) => each !== null);
  return build(place?.[1] ?? null, place?.[2] ?? null, found[1]!);
}

function wordsBelow(lines: readonly string[], at: number): string {
  return (
    lines
      .slice(at + 1, at + 12)
      .find((line) => line.trim() !== "")
      ?.trim() ?? "failed"
  );
}

function test(name: string, file: string | null, line: string | null, message: string): ListedFailure {
  return listedFailure("test", name, file, line, message);
}

function build(file: string | null, line: string | null, message: string): ListedFailure {
  return listedFailure("build", null, file, line, message);
}

function listedFailure(
  category: ListedFailure["category"],
  name: string | null,
  file: string | null,
  line: string | null,
  message: string,
): ListedFailure {
  return { test: name, category, message: shortMessage(message), file, line: line === null ? null : Number(line) };
}

/** The expected and the actual value of a failed comparison; `null` if the output does not show them. */
export interface ComparedValues {
  readonly expected: string | null;
  readonly actual: string | null;
}

type Form = readonly [pattern: RegExp, expected: number, actual: number];

/** Lines with both values. */
const BOTH: readonly Form[] = [
  [/expected:? ?<(.{0,300}?)> but was:? ?<(.{0,300}?)>/i, 1, 2],
  [
    /\bexpected (?!values\b|the\b)(.{1,300}?) to (?:be|equal|deeply equal|strictly equal|contain|include|match|have \w+)(?: of)? (.{1,300}?)(?: \/\/ .*)?$/i,
    2,
    1,
  ],
  [/\bgot:? (.{1,200}?)[,;] ?(?:want|expected|wanted):? (.{1,200})$/i, 2, 1],
  [/\b(?:want|expected|wanted):? (.{1,200}?)[,;] ?(?:but )?got:? (.{1,200})$/i, 1, 2],
  [/\bexpected (.{1,200}?),? but (?:got|was|received|found):? (.{1,200})$/i, 1, 2],
  [/^(?:E\s+)?(?:AssertionError: )?assert (.{1,300}?) == (.{1,300})$/, 2, 1],
  [/^(?:E\s+)?AssertionError: (.{1,300}?) != (.{1,300}?)(?: :.*)?$/, 2, 1],
  [/^(.{1,300}?) !== (.{1,300})$/, 2, 1],
];

const EXPECTED =
  /^\s*(?:E\s+)?["']?(?:expected|want|right|Expected(?: value)?(?: string)?|Expect)["']?\s*:\s+(\S.{0,300}?),?$/;
const ACTUAL =
  /^\s*(?:E\s+)?["']?(?:actual|got|left|Received(?: value)?(?: string)?|Actual|found)["']?\s*:\s+(\S.{0,300}?),?$/;

/** Reads the comparison from one failure's lines: a sentence, two labeled lines, or a diff with its signs. */
export function readValues(lines: readonly string[]): ComparedValues {
  let expected: string | null = null;
  let actual: string | null = null;
  for (const line of lines) {
    expected ??= EXPECTED.exec(line)?.[1] ?? null;
    actual ??= ACTUAL.exec(line)?.[1] ?? null;
  }
  if (expected !== null && actual !== null) return { expected, actual };
  for (const line of lines) {
    for (const [pattern, wanted, got] of BOTH) {
      const found = pattern.exec(line.trim());
      if (found !== null) return { expected: found[wanted]!.trim(), actual: found[got]!.trim() };
    }
  }
  const diff = diffValues(lines);
  return { expected: expected ?? diff.expected, actual: actual ?? diff.actual };
}

/** Reads a diff: `- Expected` and `+ Received` (or the other way round) precede the lines that differ. */
function diffValues(lines: readonly string[]): ComparedValues {
  const head = lines.findIndex((line) => /(?:^|[\s(])[-+] ?(?:expected|actual|received)\b/i.test(line));
  if (head < 0) return { expected: null, actual: null };
  const isPlusExpected = lines.slice(head, head + 2).some((line) => /\+ ?expected/i.test(line));
  const valueAfterSign = (sign: string): string | null => {
    const found = lines
      .slice(head + 1, head + 60)
      .flatMap(
        (line) =>
          new RegExp(`^\\s*(?:E\\s+)?\\${sign}\\s(?!(?:expected|actual|received)\\b)(.{0,200})$`, "i").exec(
            line,
          )?.[1] ?? [],
      )
      .slice(0, 6);
    return found.length === 0 ? null : found.map((line) => line.trim()).join(" ");
  };
  const [plus, minus] = [valueAfterSign("+"), valueAfterSign("-")];
  return isPlusExpected ? { expected: plus, actual: minus } : { expected: minus, actual: plus };
}
