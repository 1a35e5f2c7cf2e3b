import { describe, expect, test } from "vitest";
import { command } from "../../../../src/cli/commands/read/parse.ts";
import { readingSchema } from "../../../../src/core/schemas/reading.ts";
import { run, type Ran } from "../../../kit/fake-environment.ts";
import { memoryFiles } from "../../../kit/memory-files.ts";

const ANSWERS = {
  "/work/passed.txt": "REVIEW_PASSED: cart\n\nSummary: fine\n",
  "/work/failed.txt":
    "REVIEW_FAILED: cart\n\nIssues Found:\n- [critical] src/a.ts:4: leaks\n- no tests\n\nRequired Fixes:\n- close it\n\nPriority: HIGH\n",
  "/work/audit.txt":
    "AUDIT_FAILED: cart\n\nVerification Results:\n- empties: FAILED - no\n\nCommands Executed:\n- npm test (node20): FAIL\n",
  "/work/stuck.txt": "TASK_INCOMPLETE: cart\n\nBlocker: missing_info - which\nAttempted: reading\nNeeded: the name\n",
  "/work/blocked.txt": "AUDIT_BLOCKED: cart\n\nPre-existing Failures:\n- no database\n",
  "/work/review.json": '{"passed": false, "issues": [{"severity": "minor", "file": "a.ts", "description": "name"}]}',
  "/work/there/passed.txt": "REVIEW_PASSED: other",
  "/work/nothing.txt": "Hello.",
};

const parse = (...argv: readonly string[]): Promise<Ran> => {
  return run(["parse", ...argv], [command], {
    files: memoryFiles(ANSWERS),
    stdin: () => Promise.resolve("AUDIT_PASSED: cart"),
  });
};

describe("remand parse --json", () => {
  test("prints the document, its keys in their order", async () => {
    const { out, exit } = await parse("failed.txt", "--id", "cart", "--role", "critic", "--json");
    const document = readingSchema.parse(JSON.parse(out));
    expect(exit).toBe(0);
    expect(Object.keys(JSON.parse(out) as object)).toEqual(
      "schema kind signal id idMatches result findings requiredFixes passing quality verification commands environments preExisting filesReviewed filesModified context incomplete priority summary problems".split(
        " ",
      ),
    );
    expect(Object.keys(document.findings[0]!)).toEqual(
      "severity category file line message suggestedFix criterion status".split(" "),
    );
    expect(document).toMatchObject({
      schema: "remand.reading/1",
      kind: "signal",
      signal: "REVIEW_FAILED",
      id: "cart",
      idMatches: true,
      result: "fail",
      findings: [
        { severity: "critical", file: "src/a.ts", line: 4, message: "leaks" },
        { severity: null, file: null, line: null, message: "no tests" },
      ],
      requiredFixes: ["close it"],
      priority: "HIGH",
      problems: [],
    });
  });

  test.each(Object.keys(ANSWERS))("%s gives a document that matches the schema", async (file) => {
    const { out } = await parse(file, "--json");
    expect(() => readingSchema.parse(JSON.parse(out))).not.toThrow();
  });
});

describe("remand parse, for people", () => {
  test.each([
    ["passed.txt", "pass (REVIEW_PASSED: cart)\n  fine\n"],
    [
      "failed.txt",
      "fail (REVIEW_FAILED: cart)\n  priority HIGH\n  findings:\n    - [critical] src/a.ts:4: leaks\n    - no tests\n  required fixes:\n    - close it\n",
    ],
    [
      "audit.txt",
      "fail (AUDIT_FAILED: cart)\n  criteria:\n    - empties: failed\n  commands:\n    - npm test  node20  FAIL\n",
    ],
    ["stuck.txt", "incomplete (TASK_INCOMPLETE: cart)\n  blocked by which (missing_info)\n"],
    ["blocked.txt", "blocked (AUDIT_BLOCKED: cart)\n  broken before:\n    - no database\n"],
    ["review.json", "fail (a verdict as data or in words)\n  findings:\n    - [minor] a.ts: name\n"],
    ["nothing.txt", "unknown\n  problems:\n    - The text holds no signal and no verdict.\n"],
  ])("%s", async (file, out) => {
    expect((await parse(file)).out).toBe(out);
  });
});

describe("remand parse: inputs and exit codes", () => {
  test.each([[[]], [["-"]]])("the standard input (%j)", async (argv) => {
    expect(await parse(...argv)).toMatchObject({ exit: 0, out: "pass (AUDIT_PASSED: cart)\n" });
  });

  test("a file of another folder", async () => {
    expect((await parse("passed.txt", "-C", "there")).out).toBe("pass (REVIEW_PASSED: other)\n");
  });

  test.each([
    ["a rejection was read", ["failed.txt"], 0],
    ["nothing was read", ["nothing.txt"], 3],
    ["another story's", ["passed.txt", "--id", "other"], 3],
    ["another role's", ["passed.txt", "--role", "auditor"], 3],
    ["the same as a document", ["nothing.txt", "--json"], 3],
    ["a role that gives no signals", ["passed.txt", "--role", "boss"], 2],
    ["an option that does not exist", ["passed.txt", "--rol", "critic"], 2],
    ["two files", ["passed.txt", "failed.txt"], 2],
  ])("%s", async (_, argv, exit) => {
    expect((await parse(...argv)).exit).toBe(exit);
  });

  test("a missing file is named", async () => {
    const { exit, err } = await parse("gone.txt");
    expect(err).toContain("there is no file gone.txt");
    expect(exit).not.toBe(0);
  });

  test("the help leads somewhere", async () => {
    const { out, exit } = await parse("--help");
    expect(exit).toBe(0);
    expect(out).toContain("remand parse answer.txt --role critic --id checkout-retry");
    expect(out).toContain("Exit code: 0");
  });
});
