import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NAME_LEVELS } from "../../src/core/gates/test-names.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

/** The rows of the guide's table of runners: name, level, and what it says of its tests. */
const rows = [
  ...read("../../docs/guide/test-names.md").matchAll(/^\| (?!runner )([^|]+) \| (\w+) \| [^|]+ \| ([^|]+) \|$/gm),
].map(([, runner = "", level = "", tested = ""]) => ({ runner, level, tested }));

/** The words by which each runner's test is found, and the file that it is in. */
const WORDS: Readonly<Record<string, string>> = { Vitest: "vitest", Jest: "jest", Mocha: "mocha", AVA: "ava" };
const RECORDED: Readonly<Record<string, string>> = {
  Maven: "../adapters/java-reports.test.ts",
  Gradle: "../adapters/java-reports.test.ts",
  CTest: "../readers/test-names.test.ts",
};

test("the guide names fourteen runners, and at least eleven report all names", () => {
  expect(rows).toHaveLength(14);
  for (const { level } of rows) expect(NAME_LEVELS).toContain(level);
  expect(rows.filter(({ level }) => level === "all").length).toBeGreaterThanOrEqual(11);
});

test.each(rows)("$runner is tested where the guide says so: $tested", ({ runner, tested }) => {
  const word = WORDS[runner] ?? runner;
  expect(tested).toMatch(/every test run|test:runners|in its format/);
  if (tested.includes("every test run")) expect(read("name-reports.test.ts")).toMatch(new RegExp(`it.*["(]${word}`));
  if (tested.includes("test:runners"))
    expect(read("installed.runners.ts")).toMatch(new RegExp(`"(?:${word}|mvn)[@, ]`));
  for (const [, version] of tested.matchAll(/(?:runners`,|, |and) ?(\d+)/g))
    if (tested.startsWith("`test:runners`")) expect(read("installed.runners.ts")).toContain(`"${word}@${version}"`);
  if (tested.includes("recorded")) expect(read(RECORDED[runner]!)).toMatch(new RegExp(runner, "i"));
});
