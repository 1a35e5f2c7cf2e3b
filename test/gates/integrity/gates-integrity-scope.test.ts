import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Scope } from "../../../src/core/stories/scope.ts";
import { integrityTrees, lines, scopeOf, type IntegrityTrees, type Tree } from "../../kit/integrity-trees.ts";

let trees: IntegrityTrees;
beforeAll(() => {
  trees = integrityTrees();
});
afterAll(() => trees.clear());

const BASE: Tree = {
  "src/a.js": "a\n",
  "src/b.js": "b\n",
  "test/a.test.js": 'test("a", () => { expect(a()).toBe(1); });\n',
  "test/data.json": '{ "a": 1 }\n',
};

const rework = (changes: Tree, scope: Scope, exceptions: readonly { path: string; rationale: string }[] = []) =>
  trees.judge(BASE, { ...BASE, ...changes }, scope, BASE, {}, { exceptions });

describe("the files that a rework may change", () => {
  // S3.39
  test("a file outside of the scope is rejected, and one inside is not", async () => {
    const judgement = await rework(
      { "src/a.js": "aa\n", "src/b.js": "bb\n" },
      scopeOf("add-only", { allow: ["src/a.js"] }),
    );
    expect(judgement.result).toBe("fail");
    expect(lines(judgement.findings)).toEqual(["blocker src/b.js: this file is outside of what the rework may touch"]);
    expect(judgement.findings[0]?.suggestedFix).toContain("Allowed: src/a.js.");
  });

  test("a protected file is rejected even if every path is allowed", async () => {
    expect(lines((await rework({ "src/b.js": "bb\n" }, scopeOf("add-only", { deny: ["src/b.*"] }))).findings)).toEqual([
      "blocker src/b.js: this file must not change in this rework, and it did",
    ]);
  });

  test("only this attempt's changes count", async () => {
    const judgement = await trees.judge(
      BASE,
      { ...BASE, "src/b.js": "bb\n", "src/a.js": "aa\n" },
      scopeOf("add-only", { allow: ["src/a.js"] }),
      { ...BASE, "src/b.js": "bb\n" },
    );
    expect(judgement).toMatchObject({ result: "pass", findings: [] });
  });

  test("a valid reason turns the finding into information and is shown; an invalid one does not", async () => {
    const reason = [{ path: "src/b.js", rationale: "a calls b with one argument more" }];
    const scope = { allow: ["src/a.js"], exceptions: "with-rationale" } as const;
    const excused = await rework({ "src/b.js": "bb\n" }, scopeOf("add-only", scope), reason);
    expect(excused.result).toBe("pass");
    expect(lines(excused.findings)).toEqual([
      "info src/b.js: this file is outside of what the rework may touch; the reason given: a calls b with one argument more",
    ]);
    const asked = await rework({ "src/b.js": "bb\n" }, scopeOf("add-only", scope), []);
    expect(asked.findings[0]?.suggestedFix).toContain("`Scope exception: src/b.js: <reason>`");
    const shown = await rework({ "src/b.js": "bb\n" }, scopeOf("add-only", { ...scope, exceptions: "ask" }), reason);
    expect(shown.result).toBe("fail");
    expect(shown.findings[0]).toMatchObject({
      severity: "blocker",
      detail: "The agent's reason: a calls b with one argument more",
      suggestedFix: expect.stringContaining("in your report, for a person to decide."),
    });
    const never = await rework({ "src/b.js": "bb\n" }, scopeOf("add-only", { ...scope, exceptions: "never" }), reason);
    expect(never.result).toBe("fail");
  });

  test("a reason for one file does not cover another", async () => {
    const scope = scopeOf("add-only", { allow: ["src/a.js"], exceptions: "with-rationale" });
    expect((await rework({ "src/b.js": "bb\n" }, scope, [{ path: "src/c.js", rationale: "why not" }])).result).toBe(
      "fail",
    );
  });
});

test("the story's own file, in which Remand keeps its notes, is in no scope", async () => {
  const scope = scopeOf("add-only", { allow: ["src/a.js"] });
  const changes = { "src/a.js": "aa\n", "tales/checkout.md": "a note\n", "tales/other.md": "a note\n" };
  const judgement = await trees.judge(BASE, { ...BASE, ...changes }, scope, BASE, { stories: "tales" });
  expect(judgement.findings.map(({ file }) => file)).toEqual(["tales/other.md"]);
});

describe("the policy for tests", () => {
  const more = 'test("a", () => { expect(a()).toBe(1); });\ntest("b", () => { expect(b()).toBe(2); });\n';
  const other = 'test("a", () => { expect(a()).toBe(2); });\n';

  // S3.38
  test.each([
    ["add-only", { "test/b.test.js": more }, []],
    ["add-only", { "test/a.test.js": more }, []],
    ["add-only", { "test/a.test.js": other }, ["test-changed"]],
    ["add-only", { "test/data.json": '{ "a": 2 }\n' }, ["test-changed"]],
    ["required", { "test/a.test.js": more }, []],
    ["required", { "test/a.test.js": other }, ["test-changed"]],
    ["frozen", { "test/b.test.js": more }, ["tests-frozen"]],
    ["frozen", { "test/a.test.js": more }, ["tests-frozen"]],
    ["open", { "test/a.test.js": other }, []],
    ["open", { "test/data.json": '{ "a": 2 }\n' }, []],
  ] as const)("%s: %j breaks %j", async (tests, changes, expected) => {
    const judgement = await rework({ "src/a.js": "aa\n", ...changes }, scopeOf(tests));
    const blocking = judgement.findings.filter(({ id }) => judgement.blocking.includes(id));
    expect(blocking.map(({ category }) => category)).toEqual(expected.map((rule) => `integrity/${rule}`));
    expect(judgement.result).toBe(expected.length === 0 ? "pass" : "fail");
  });

  test("required: tests are the work, and nothing else may change", async () => {
    const scope = scopeOf("required", { allow: ["**/*.test.*"] });
    expect(lines((await rework({ "src/a.js": "aa\n", "test/a.test.js": more }, scope)).findings)).toEqual([
      "blocker src/a.js: this file is outside of what the rework may touch",
    ]);
  });

  test("add-only: a new test may be outside of the allowed files", async () => {
    const scope = scopeOf("add-only", { allow: ["src/a.js"] });
    expect(await rework({ "src/a.js": "aa\n", "test/new.test.js": more }, scope)).toMatchObject({ result: "pass" });
  });

  test("a reason lets an existing test change", async () => {
    const scope = scopeOf("add-only", { exceptions: "with-rationale" });
    const judgement = await rework({ "src/a.js": "aa\n", "test/a.test.js": other }, scope, [
      { path: "test/a.test.js", rationale: "the criterion says 2" },
    ]);
    expect(judgement).toMatchObject({ result: "pass", findings: [{ severity: "info" }, { severity: "info" }] });
  });
});

describe("reverting a rejected change", () => {
  const LOOSE = 'test("a", () => { expect(a()).toBe(2); });\n';
  const FAKE = 'test("fake", () => { expect(true).toBe(true); });\n';
  const cheated: Tree = { ...BASE, "src/b.js": "bb\n", "test/a.test.js": LOOSE, "test/fake.test.js": FAKE };
  const refused = ["src/b.js", "test/a.test.js", "test/fake.test.js"];
  const narrow = { allow: ["src/a.js"], restore: refused };

  test("is neither out of scope nor a changed test", async () => {
    const judged = await trees.judge(BASE, { ...BASE, "src/a.js": "aa\n" }, scopeOf("add-only", narrow), cheated);
    expect(lines(judged.findings)).toEqual([]);
    expect(judged.result).toBe("pass");
  });

  test("is rejected if any of it is left, or if it was not requested", async () => {
    const partly = { ...BASE, "test/a.test.js": 'test("a", () => { expect(a()).toBe(3); });\n' };
    const again = await trees.judge(BASE, partly, scopeOf("add-only", narrow), cheated);
    expect(again.findings.map(({ file }) => file)).toContain("test/a.test.js");
    expect(again.result).toBe("fail");
    const unasked = await trees.judge(BASE, BASE, scopeOf("add-only", { allow: ["src/a.js"] }), cheated);
    expect(unasked.findings.map(({ file }) => file)).toEqual(expect.arrayContaining(refused));
  });
});
