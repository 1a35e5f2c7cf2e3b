import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readAgentText } from "../src/parse/agent/agent-text.ts";
import { median, type BenchResult } from "./bench-result.ts";

const SIZE = 50 * 1024 * 1024;
const ROUNDS = 5;
const LIMIT = 5;

/** A log of tens of megabytes precedes the signal, as if an agent prints everything it reads. */
const END = "\nREVIEW_PASSED: x\n\nSummary: fine\n";
const KINDS: readonly (readonly [name: string, piece: string, end: string])[] = [
  ["the letter a", "a", ""],
  ["backticks", "`", ""],
  ["braces", "{", ""],
  ["brackets", "[", ""],
  ["the same signal", "REVIEW_PASSED: x\n", ""],
  ["fences", "```\n", ""],
  ["verdicts", '{"passed": true}\n', ""],
  ["escape characters", "\u001B", ""],
  ["a log, then a signal", "The quick brown fox jumps over the lazy dog, in REVIEW and out.\n", END],
  ["a log with CRLF, then a signal", "The quick brown fox jumps over the lazy dog, in and out.\r\n", END],
  ["a colored log, then a signal", "\u001B[31mThe quick\u001B[0m brown fox jumps over the lazy dog.\n", END],
  ["line ends, then a signal", "\n", END],
  ["bullets, then a signal", "- one more thing\n", END],
  // Only lines that must be checked one by one, millions of them, and no signal.
  ["fences and code, then a signal", "```js\ncode here\n```\n", END],
  ["signals of two stories", "REVIEW_PASSED: x\nREVIEW_PASSED: y\n", ""],
];

/** The cost of finding signals in 50 MB, compared with reading 50 MB from a file. */
export async function run(): Promise<readonly BenchResult[]> {
  const folder = await mkdtemp(join(tmpdir(), "remand-bench-"));
  try {
    const results: BenchResult[] = [];
    for (const [name, piece, end] of KINDS) {
      results.push(await measure(join(folder, "text"), name, piece, end));
    }
    return results;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measure(file: string, name: string, piece: string, end: string): Promise<BenchResult> {
  await writeFile(file, piece.repeat(Math.ceil(SIZE / piece.length)) + end);
  const floor: number[] = [];
  const reading: number[] = [];
  // Both in each round, so that a slowdown of the machine affects both. The first round is a warm-up.
  for (let round = 0; round <= ROUNDS; round++) {
    const start = performance.now();
    const text = await readFile(file, "utf8");
    const between = performance.now();
    const { result } = readAgentText(text, { id: "x" });
    const took = performance.now() - between;
    if (end !== "" && result !== (name.startsWith("fences") ? "unknown" : "pass"))
      throw new Error(`${name}: read as ${result}`);
    if (round === 0) continue;
    floor.push(between - start);
    reading.push(took);
  }
  return {
    name: `signals in 50 MB of ${name}`,
    value: median(reading),
    unit: "ms",
    ratio: median(reading) / median(floor),
    against: `reading the file (${median(floor).toFixed(0)} ms)`,
    limit: LIMIT,
  };
}
