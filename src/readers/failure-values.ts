/** What a failing comparison expected, and what it got; `null` where the output does not say. */
export interface ComparedValues {
  readonly expected: string | null;
  readonly actual: string | null;
}

type Form = readonly [pattern: RegExp, expected: number, actual: number];

/** One line that says both. */
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

/** Reads the comparison out of one failure's lines: a sentence, two labelled lines, or a diff with its signs. */
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

/** `- Expected` and `+ Received` (or the other way round) head the lines that differ. */
function diffValues(lines: readonly string[]): ComparedValues {
  const head = lines.findIndex((line) => /(?:^|[\s(])[-+] ?(?:expected|actual|received)\b/i.test(line));
  if (head < 0) return { expected: null, actual: null };
  const isPlusExpected = lines.slice(head, head + 2).some((line) => /\+ ?expected/i.test(line));
  const signed = (sign: string): string | null => {
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
  const [plus, minus] = [signed("+"), signed("-")];
  return isPlusExpected ? { expected: plus, actual: minus } : { expected: minus, actual: plus };
}
