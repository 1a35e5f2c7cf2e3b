import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const PARTS = ["engine", "gates", "blame", "agents", "people", "fleet"];

interface Row {
  readonly id: string;
  readonly where: readonly string[];
  readonly shown: string;
}

/** The rows of the page: number, what is asked, where it lives, what shows it. */
function rowsOf(page: string): Row[] {
  return page
    .split("\n")
    .filter((line) => /^\| S\d\./.test(line))
    .map((line) => {
      const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
      return { id: cells[1]!, where: quoted(cells[3]!), shown: cells[4]! };
    });
}

const quoted = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);

/** What is wrong with a row; empty when nothing is. */
function problemsOf({ id, where, shown }: Row): string[] {
  const problems = where.length === 0 ? [`${id} names no file`] : [];
  for (const file of where) if (!existsSync(`src/${file}`)) problems.push(`${id}: there is no src/${file}`);
  const tests = [...shown.matchAll(/`([^`]+\.test\.ts)` “([^”]+)”/g)].map((match) => ({
    file: `test/${match[1]}`,
    title: match[2]!,
  }));
  const later = [...shown.matchAll(/\*later: ([a-z]+)\*/g)].map((match) => match[1]!);
  if (tests.length + later.length === 0) problems.push(`${id} has neither a test nor a later part`);
  for (const part of later) if (!PARTS.includes(part)) problems.push(`${id}: there is no part called ${part}`);
  for (const { file, title } of tests) {
    if (!existsSync(file)) problems.push(`${id}: there is no ${file}`);
    else if (!readFileSync(file, "utf8").includes(title)) problems.push(`${id}: ${file} has no “${title}”`);
  }
  return problems;
}

describe("docs/sources.md", () => {
  const page = readFileSync("docs/sources.md", "utf8");
  const rows = rowsOf(page);

  it("names in every row a file that exists, and a test that exists or the part that comes later", () => {
    expect(rows.flatMap(problemsOf)).toEqual([]);
  });

  it("has rows of all five sources, each numbered once", () => {
    const bySource = ["S0", "S1", "S2", "S3", "S4"].map(
      (source) => rows.filter(({ id }) => id.startsWith(`${source}.`)).length,
    );
    expect(Math.min(...bySource)).toBeGreaterThan(30);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  });

  it("credits each source", () => {
    for (const from of ["aidanmorgan/token-bonfire", "jwilger/agent-skills", "Colin4k1024/tsp", "patrob/ai-sdlc"])
      expect(page).toContain(`https://github.com/${from}`);
  });

  it.each([
    ["| S9.1 | x | `policy/nowhere.ts` | *later: gates* |", "S9.1: there is no src/policy/nowhere.ts"],
    ["| S9.1 | x | none | *later: gates* |", "S9.1 names no file"],
    ["| S9.1 | x | `policy/route.ts` | some day |", "S9.1 has neither a test nor a later part"],
    ["| S9.1 | x | `policy/route.ts` | *later: someday* |", "S9.1: there is no part called someday"],
    ["| S9.1 | x | `policy/route.ts` | `seeds/none.test.ts` “x” |", "S9.1: there is no test/seeds/none.test.ts"],
    [
      "| S9.1 | x | `policy/route.ts` | `policy/fold.test.ts` “no such title” |",
      "S9.1: test/policy/fold.test.ts has no “no such title”",
    ],
  ])("would notice %s", (line, problem) => {
    expect(rowsOf(line).flatMap(problemsOf)).toEqual([problem]);
  });
});
