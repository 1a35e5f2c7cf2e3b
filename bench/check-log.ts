import { execFileSync } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, type BenchResult } from "./bench-result.ts";

const ROUNDS = 5;
const SIZES_MB = [10, 50, 100] as const;
const MOST_MEGABYTES = 150;

/** The log of a verbose test run, and two unusually hard ones. Each ends in the same summary. */
const KINDS: readonly (readonly [name: string, line: (at: number) => string])[] = [
  [
    "a chatty run",
    (at) => `\u001B[2m2026-01-02T03:04:05.678Z\u001B[0m worker ${at % 16} handled request ${at} in 12 ms`,
  ],
  ["nothing but results", (at) => `ok ${at} - a test with a name that says what it does`],
  ["errors all over", (at) => `src/module-${at % 100}/file.ts:${at % 1000}:7 - Error: could not do it, trying again`],
];
const FAILING = [
  " FAIL  test/a.test.ts > outer > adds",
  "AssertionError: expected -1 to be 3 // Object.is equality",
  "",
  "- Expected",
  "+ Received",
  "",
  " ❯ test/a.test.ts:2:36",
  "⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯",
];
const SUMMARY = ["      Tests  1 failed | 11 passed (12)"];

/** The cost of the checks gate for a command that prints 100 MB: memory of the process, and time by size. */
export async function run(): Promise<readonly BenchResult[]> {
  const folder = await mkdtemp(join(tmpdir(), "remand-bench-"));
  try {
    const results: BenchResult[] = [];
    for (const [name, line] of KINDS) results.push(...(await measure(folder, name, line)));
    return results;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measure(folder: string, name: string, line: (at: number) => string): Promise<BenchResult[]> {
  const took = new Map<number, number[]>(SIZES_MB.map((size) => [size, []]));
  let mostMegabytes = 0;
  for (const size of SIZES_MB) await write(join(folder, `${size}.log`), size, line);
  for (let round = 0; round < ROUNDS; round++) {
    for (const size of SIZES_MB) {
      const seen = judged(folder, join(folder, `${size}.log`));
      took.get(size)!.push(seen.ms);
      mostMegabytes = Math.max(mostMegabytes, seen.mostMegabytes);
    }
  }
  const [small, middle, large] = SIZES_MB.map((size) => median(took.get(size)!)) as [number, number, number];
  return [
    {
      name: `memory for a log of 100 MB, ${name}`,
      value: mostMegabytes,
      unit: "MB",
      ratio: mostMegabytes / MOST_MEGABYTES,
      against: `${MOST_MEGABYTES} MB`,
      limit: 1,
    },
    {
      // A further megabyte costs the same at the end as at the beginning.
      name: `computing for a log of 100 MB, ${name}`,
      value: large,
      unit: "ms",
      ratio: (large - middle) / 50 / ((middle - small) / 40),
      against: `a megabyte more up to 50 (10 MB: ${small.toFixed(0)} ms, 50 MB: ${middle.toFixed(0)} ms)`,
      limit: 1.5,
    },
  ];
}

function judged(folder: string, file: string): { readonly ms: number; readonly mostMegabytes: number } {
  const program = fileURLToPath(new URL("./log/judge-log.js", import.meta.url));
  const seen = JSON.parse(execFileSync(process.execPath, [program, file, folder], { encoding: "utf8" })) as {
    readonly ms: number;
    readonly mostMegabytes: number;
    readonly findings: number;
  };
  if (seen.findings !== 1) throw new Error(`${file}: ${seen.findings} failures were read, and there is one in it`);
  return seen;
}

async function write(file: string, megabytes: number, line: (at: number) => string): Promise<void> {
  const stream = createWriteStream(file);
  const bytes = megabytes * 1024 * 1024;
  stream.write(" RUN  v4.1.12 /project\n");
  let written = 0;
  let hasFailed = false;
  for (let at = 1; written < bytes;) {
    const lines: string[] = [];
    for (let more = 0; more < 10_000; more++) lines.push(line(at++));
    if (!hasFailed && written > bytes / 2) {
      lines.push(...FAILING);
      hasFailed = true;
    }
    const block = `${lines.join("\n")}\n`;
    written += block.length;
    if (!stream.write(block)) await once(stream, "drain");
  }
  stream.end(`${SUMMARY.join("\n")}\n`);
  await once(stream, "finish");
}
