import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mutationScore, survivorFinding, survivors } from "../../../src/gates/mutation/mutation-gate.ts";
import { readMutationReport, type Mutant } from "../../../src/parse/tests/mutation-report.ts";

const SOURCE = "export function cap(value, limit) {\n  return value > limit\n    ? limit\n    : value;\n}\n";
const at = (startLine: number, startColumn: number, endLine: number, endColumn: number) => ({
  start: { line: startLine, column: startColumn },
  end: { line: endLine, column: endColumn },
});
const mutant = (status: string, more: object = {}) => ({
  id: "1",
  mutatorName: "EqualityOperator",
  replacement: "value >= limit",
  location: at(2, 10, 2, 23),
  status,
  ...more,
});
const report = (...mutants: readonly object[]): string =>
  JSON.stringify({
    schemaVersion: "1",
    thresholds: {},
    files: { "src/cap.js": { language: "javascript", source: SOURCE, mutants } },
  });
const read = (...mutants: readonly object[]): readonly Mutant[] => {
  const found = readMutationReport(report(...mutants));
  if (!found.ok) throw new Error(found.problem);
  return found.mutants;
};

describe("a report of mutation testing", () => {
  test("has each change with the result of the tests", () => {
    expect(read(mutant("Survived"))).toEqual([
      {
        file: "src/cap.js",
        line: 2,
        mutator: "EqualityOperator",
        original: "value > limit",
        replacement: "value >= limit",
        status: "survived",
        reason: "",
      },
    ]);
    expect(read(mutant("Killed", { location: at(2, 10, 3, 12) }))[0]?.original).toBe("value > limit\n    ? limit");
    expect(read(mutant("Ignored", { statusReason: "equivalent: both give limit" }))[0]).toMatchObject({
      status: "ignored",
      reason: "equivalent: both give limit",
    });
  });

  test.each([
    ["not JSON", "it is no JSON"],
    ["[]", "it has no `files`"],
    ['{"files": []}', "it has no `files`"],
    ['{"files": {"a.js": {}}}', 'files["a.js"] has no list of mutants'],
    [report(mutant("Exploded")), "has a mutant that cannot be read"],
    [report({ status: "Killed" }), "has a mutant that cannot be read"],
    [report({ status: "Killed", location: { start: {}, end: {} } }), "has a mutant that cannot be read"],
    [report({ status: "Killed", location: { start: null, end: 1 } }), "has a mutant that cannot be read"],
    ['{"files": {"a.js": {"mutants": [1]}}}', "has a mutant that cannot be read"],
  ])("%s is not a report", (text, problem) => {
    expect(readMutationReport(text)).toMatchObject({ ok: false, problem: expect.stringContaining(problem) });
  });

  test("a report without sources is read too", () => {
    const text = JSON.stringify({ files: { "a.py": { mutants: [mutant("Survived", { replacement: undefined })] } } });
    expect(readMutationReport(text)).toMatchObject({ mutants: [{ original: "", replacement: "" }] });
  });

  test("never throws", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void readMutationReport(JSON.stringify({ files: value }))));
  });
});

describe("the score", () => {
  test("is killed of killable, rounded down; timeouts, ignored and invalid faults are separate", () => {
    const kinds = [
      ...Array.from({ length: 2 }, () => "Killed"),
      "Survived",
      "NoCoverage",
      "Timeout",
      "Ignored",
      "CompileError",
    ];
    const { score, words } = mutationScore(read(...kinds.map((kind) => mutant(kind))));
    expect(score).toBe(50);
    expect(words).toBe("2 of 4 mutants killed, 50 %, 1 timed out, 1 ignored, 1 that could not run");
    const many = mutationScore(read(...Array.from({ length: 999 }, () => mutant("Killed")), mutant("Survived")));
    expect(many.score).toBe(99.9);
  });

  test("does not exist without faults", () => {
    expect(mutationScore(read(mutant("Ignored"), mutant("Pending")))).toMatchObject({
      score: null,
      words: "nothing could be killed, 1 ignored, 1 never tried",
    });
  });
});

describe("a survivor", () => {
  const found = (mutatorName: string, more: object = {}) =>
    survivorFinding(survivors(read(mutant("Survived", { mutatorName, ...more })))[0]!);

  test("is a finding with its location, its change, and a recommended test", () => {
    expect(found("EqualityOperator")).toMatchObject({
      file: "src/cap.js",
      line: 2,
      category: "mutation-survivor",
      message: "no test notices it when `value > limit` becomes `value >= limit`",
      suggestedFix: expect.stringMatching(/at the boundary itself.*\(src\/cap\.js:2\)\.$/),
    });
    expect(found("BlockStatement", { replacement: "{}" }).suggestedFix).toContain("without it the test must fail");
    expect(found("SomethingNew").suggestedFix).toContain("whose result differs between `value > limit` and");
    expect(found("", { location: at(9, 1, 9, 1), replacement: "" }).message).toBe(
      "no test notices it when a small change becomes nothing",
    );
  });

  test("in code that no test runs is reported as such", () => {
    expect(survivorFinding(read(mutant("NoCoverage"))[0]!).detail).toContain("No test runs this code");
  });

  test("keeps its identity when lines above it move", () => {
    expect(found("EqualityOperator", { location: at(2, 10, 2, 23) }).id).toBe(found("EqualityOperator").id);
  });
});
