/**
 * The lines of an output that help to understand a failure. Left out: stack frames of the runtime and of installed
 * packages, coverage tables, and what npm adds around a script.
 */
export function withoutNoise(lines: readonly string[]): string[] {
  return lines.filter((line) => !isForeignFrame(line) && !isCoverageRow(line) && !isNpmLine(line));
}

/** `at load (node:internal/modules/cjs/loader:1091:12)`, or the same in a package that the project only uses. */
const isForeignFrame = (line: string): boolean =>
  /^\s+(?:at|❯) /.test(line) && FOREIGN.some((part) => line.includes(part));

const FOREIGN = ["(node:", " node:", "(<anonymous>)", "/node_modules/", "at /rustc/", "/remand/reporters/"];

/** A row or a rule of the table that istanbul, nyc, c8 and Vitest print: a name and four shares. */
const isCoverageRow = (line: string): boolean =>
  /^-+\|(?:-+\|){3,}-*$/.test(line.trim()) || /^[^|]*\|(?:\s*(?:%\s\w+|[\d.]+)\s*\|){4}/.test(line);

const isNpmLine = (line: string): boolean =>
  /^npm (?:warn|notice|WARN)\b/.test(line) ||
  /^npm (?:ERR!|error)(?:$| (?:A complete log|code|path|command|errno|Lifecycle|Test failed))/.test(line);
