/**
 * Runs the benchmarks (`npm run bench`), or the named ones (`npm run bench -- start-up`), and prints each figure with
 * its comparison. `--strict` exits with 1 if a limit is exceeded; `--json` prints the figures for programs. Other
 * arguments `--name value` are passed to the benchmark.
 */
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isOver, Unusable, type BenchModule, type BenchResult } from "./bench-result.ts";

const RUNNER = ["main", "bench-result"];

async function main(argv: readonly string[]): Promise<number> {
  const { words: wanted, options } = readWords(argv);
  const names = benchNames();
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    console.error(`no benchmark called ${unknown.join(", ")}; there are: ${names.join(", ")}`);
    return 2;
  }
  const results: BenchResult[] = [];
  for (const name of wanted.length > 0 ? wanted : names) {
    const bench = (await import(`./${name}.js`)) as BenchModule;
    if (typeof bench.run !== "function") throw new Error(`bench/${name}.ts exports no run()`);
    results.push(...(await bench.run(options)));
  }
  console.log(options.has("json") ? JSON.stringify(results, null, 2) : table(results).join("\n"));
  return options.has("strict") && results.some(isOver) ? 1 : 0;
}

const ALONE = ["json", "strict", "no-ddmin"];

/** Splits names of benchmarks from options `--name value`, where a flag may have no value. */
function readWords(argv: readonly string[]): { words: string[]; options: Map<string, string> } {
  const words: string[] = [];
  const options = new Map<string, string>();
  for (let at = 0; at < argv.length; at++) {
    const [, name, value] = /^--([a-z-]+)(?:=([^]*))?$/.exec(argv[at]!) ?? [];
    if (name === undefined) words.push(argv[at]!);
    else options.set(name, value ?? (ALONE.includes(name) ? "" : (argv[++at] ?? "")));
  }
  return { words, options };
}

/** Lists the sources and not the compiled files: a removed benchmark must not run from an old build. */
function benchNames(): readonly string[] {
  return readdirSync(fileURLToPath(new URL("../../bench/", import.meta.url)))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.slice(0, -".ts".length))
    .filter((name) => !RUNNER.includes(name))
    .sort();
}

function table(results: readonly BenchResult[]): readonly string[] {
  const rows = [
    ["what", "value", "ratio", "against", "limit", ""],
    ...results.map((result) => [
      result.name,
      `${figure(result.value)} ${result.unit}`,
      `${result.ratio.toFixed(2)} ×`,
      result.against,
      result.limit === null ? "-" : `${result.limit} ×`,
      result.limit === null ? "" : isOver(result) ? "OVER" : "OK",
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
}

function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Unusable)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
