import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

interface Row {
  readonly id: string;
  readonly where: readonly string[];
}

/** The rows of the page: number, what is asked, where it is. */
function rowsOf(page: string): Row[] {
  return page
    .split("\n")
    .filter((line) => /^\| S\d\./.test(line))
    .map((line) => {
      const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
      return { id: cells[1]!, where: [...cells[3]!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!) };
    });
}

const TAG_LINE = /^\s*\/\/ S\d\.\d+(?:, S\d\.\d+)*,?$/;
const TEST_LINE = /^\s*(?:test|it|describe|for|const)\b/;

/** The numbers in the comments directly above tests. */
function tagsIn(text: string): string[] {
  const lines = text.split("\n");
  return lines.flatMap((line, at) => {
    if (!TAG_LINE.test(line)) return [];
    const next = lines.slice(at).find((each) => !TAG_LINE.test(each)) ?? "";
    return TEST_LINE.test(next) ? (line.match(/S\d\.\d+/g) ?? []) : [];
  });
}

function problemsOf(rows: readonly Row[], tags: ReadonlySet<string>): string[] {
  const known = new Set(rows.map(({ id }) => id));
  return [
    ...rows.flatMap(({ id, where }) => [
      ...(where.length === 0 ? [`${id} names no file`] : []),
      ...where.filter((file) => !existsSync(`src/${file}`)).map((file) => `${id}: there is no src/${file}`),
      ...(tags.has(id) ? [] : [`${id} has no test`]),
    ]),
    ...[...tags].filter((tag) => !known.has(tag)).map((tag) => `a test shows ${tag}, which has no row`),
  ];
}

describe("docs/sources.md", () => {
  const page = readFileSync("docs/sources.md", "utf8");
  const rows = rowsOf(page);
  const files = readdirSync("test", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".test.ts"));
  const tags = new Set(files.flatMap((file) => tagsIn(readFileSync(join("test", file), "utf8"))));

  it("names in every row a file that exists, and has a test for it", () => {
    expect(problemsOf(rows, tags)).toEqual([]);
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
    ["| S9.1 | x | `decide/nowhere.ts` |", ["S9.1"], ["S9.1: there is no src/decide/nowhere.ts"]],
    ["| S9.1 | x | none |", ["S9.1"], ["S9.1 names no file"]],
    ["| S9.1 | x | `decide/route.ts` |", [], ["S9.1 has no test"]],
    ["| S9.1 | x | `decide/route.ts` |", ["S9.1", "S9.2"], ["a test shows S9.2, which has no row"]],
  ])("would notice %s with tests of %j", (line, shown, problems) => {
    expect(problemsOf(rowsOf(line), new Set(shown))).toEqual(problems);
  });

  it("takes a number for a test's only directly above it", () => {
    expect(tagsIn('// S1.2, S1.3,\n// S1.4\ntest("x", run);\n// S1.5\n\nfoo();\n')).toEqual(["S1.2", "S1.3", "S1.4"]);
  });
});
