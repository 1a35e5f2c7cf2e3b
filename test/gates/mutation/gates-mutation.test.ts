import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createMutationGate, type MutationOptions } from "../../../src/gates/mutation/mutation-gate.ts";
import type { Evidence } from "../../../src/ports/evidence.ts";
import type { Workspace } from "../../../src/ports/workspace.ts";
import { judgementSchema } from "../../../src/core/schemas/gate-result.ts";
import { describeGate, gateRequest, memoryEvidence } from "../../contract/gate.ts";
import { fakeWorkspace } from "../../kit/reviewers.ts";

/* The tool is a command that writes a report; a real tool runs in test/e2e/presets/factory.test.ts. */

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-mutation-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Status = "Killed" | "Survived" | "NoCoverage" | "Timeout" | "Ignored" | "CompileError" | "Pending";

const mutant = (status: Status, line = 1) => ({
  id: `${status}-${line}`,
  mutatorName: "ConditionalExpression",
  replacement: "false",
  status,
  location: { start: { line, column: 1 }, end: { line, column: 5 } },
});

const report = (files: Readonly<Record<string, readonly ReturnType<typeof mutant>[]>>): string =>
  JSON.stringify({
    schemaVersion: "2",
    thresholds: { high: 80, low: 60 },
    files: Object.fromEntries(
      Object.entries(files).map(([file, mutants]) => [
        file,
        { language: "javascript", source: "true && pay()\ntrue\ntrue\n", mutants },
      ]),
    ),
  });

/** Returns a command that writes this text as the report. */
function leaves(text: string): string {
  writeFileSync(join(folder, "prepared.json"), text);
  return "cat prepared.json > mutation.json; echo done";
}

function gateOf(command: string | null, options: Partial<MutationOptions> = {}) {
  return createMutationGate({
    command,
    report: "mutation.json",
    threshold: 100,
    testPaths: ["**/*.test.js"],
    workspace: fakeWorkspace() as unknown as Workspace,
    evidence: memoryEvidence(),
    clock: { now: () => performance.now(), sleep: () => Promise.resolve() },
    env: { PATH: process.env["PATH"] ?? "" },
    ...options,
  });
}

async function judge(command: string | null, options: Partial<MutationOptions> = {}) {
  const judgement = await gateOf(command, options).run(gateRequest({ path: folder }), {
    signal: new AbortController().signal,
    onOutput: () => undefined,
  });
  expect(judgementSchema.safeParse(judgement).error).toBeUndefined();
  return judgement;
}

const changed = (...paths: readonly string[]) =>
  fakeWorkspace({ changedPaths: () => Promise.resolve(paths) }) as unknown as Workspace;

const caseOf = (command: () => string) => (evidence: Evidence) =>
  Promise.resolve({ gate: gateOf(command(), { evidence }), request: gateRequest({ path: folder }) });

describeGate("mutation", {
  passing: caseOf(() => leaves(report({ "src/pay.js": [mutant("Killed")] }))),
  failing: caseOf(() => leaves(report({ "src/pay.js": [mutant("Killed"), mutant("Survived", 2)] }))),
  broken: caseOf(() => "echo no report"),
  slow: caseOf(() => "sleep 600"),
});

describe("the score", () => {
  // S1.15
  test("requires all mutants to be killed that can be; each survivor has its location and the test that would detect it", async () => {
    const other = { ...mutant("NoCoverage", 3), replacement: "1" };
    const judged = await judge(leaves(report({ "src/pay.js": [mutant("Killed"), mutant("Survived", 2), other] })));
    expect(judged.summary).toBe("mutation: fail (1 of 3 mutants killed, 33.3 %; 100 % wanted)");
    expect(judged.findings).toMatchObject([
      { file: "src/pay.js", line: 2, category: "mutation-survivor", suggestedFix: expect.stringContaining("pay.js:2") },
      { file: "src/pay.js", line: 3, detail: "No test runs this code at all." },
    ]);
    expect(judged.blocking).toHaveLength(2);
  });

  test("reports the same undetected change in two locations as one finding", async () => {
    const { findings } = await judge(leaves(report({ "src/pay.js": [mutant("Survived", 2), mutant("Survived", 3)] })));
    expect(findings).toMatchObject([{ line: 2, detail: expect.stringContaining("The same at line 3.") }]);
  });

  test("passes with survivors at a lower threshold, and still shows them", async () => {
    const judged = await judge(leaves(report({ "src/pay.js": [mutant("Killed"), mutant("Survived", 2)] })), {
      threshold: 50,
    });
    expect(judged).toMatchObject({ result: "pass", blocking: [], findings: [{ line: 2 }] });
  });

  test("shows a mutant that a person called equivalent with the name, and does not count it", async () => {
    const text = report({ "src/pay.js": [mutant("Killed"), mutant("Survived", 2)] });
    const [survivor] = (await judge(leaves(text))).findings;
    const [, from, to] = /when `(.+)` becomes `(.+)`/.exec(survivor!.message)!;
    const entry = { file: "src/pay.js", mutation: `replaced ${from} with ${to}`, by: "Ada", reason: "the same sum" };
    expect(await judge(leaves(text), { equivalent: [entry] })).toMatchObject({
      result: "pass",
      summary: "mutation: pass (1 of 1 mutant killed, 100 %, 1 equivalent)",
      findings: [],
      notes: [`equivalent mutant, says Ada: src/pay.js:2 ${entry.mutation} (the same sum)`],
    });
    expect(await judge(leaves(text), { equivalent: [{ ...entry, file: "src/old.js" }] })).toMatchObject({
      result: "fail",
    });
  });

  test("lists timeouts, ignored and invalid mutants separately, and does not count them", async () => {
    const mutants = [mutant("Killed"), mutant("Timeout", 2), mutant("Ignored", 3), mutant("CompileError", 3)];
    expect(await judge(leaves(report({ "src/pay.js": mutants })))).toMatchObject({
      result: "pass",
      summary: "mutation: pass (1 of 1 mutant killed, 100 %, 1 timed out, 1 ignored, 1 that could not run)",
    });
  });

  test("ignores mutants in files outside of the story", async () => {
    const text = report({ "src/pay.js": [mutant("Killed")], "src/old.js": [mutant("Survived")] });
    expect((await judge(leaves(text))).result).toBe("pass");
  });
});

describe("inconclusive without proof", () => {
  const inconclusive = (why: string) => ({
    result: "inconclusive",
    findings: [],
    summary: expect.stringContaining(why) as string,
  });

  test("no command", async () => expect(await judge(null)).toMatchObject(inconclusive("no command is set")));

  test("a report that is missing, older than the run, or invalid", async () => {
    expect(await judge("exit 3")).toMatchObject(inconclusive("mutation.json is not there (exit code 3)"));
    const old = leaves(report({ "src/pay.js": [mutant("Killed")] }));
    await judge(old);
    utimesSync(join(folder, "mutation.json"), 1_000_000, 1_000_000);
    expect(await judge("true")).toMatchObject(inconclusive("is older than this run"));
    utimesSync(join(folder, "mutation.json"), 4_000_000_000, 4_000_000_000);
    expect(await judge("true")).toMatchObject(inconclusive("is older than this run"));
    expect(await judge(leaves("<html>"))).toMatchObject(inconclusive("it is no JSON"));
  });

  test("a report without one of the story's files", async () => {
    const workspace = changed("src/pay.js", "src/cart.js");
    expect(await judge(leaves(report({ "src/pay.js": [mutant("Killed")] })), { workspace })).toMatchObject(
      inconclusive("says nothing of src/cart.js"),
    );
  });

  test("mutants that were never tried, and none that could be killed", async () => {
    expect(await judge(leaves(report({ "src/pay.js": [mutant("Killed"), mutant("Pending", 2)] })))).toMatchObject(
      inconclusive("1 never tried"),
    );
    expect(await judge(leaves(report({ "src/pay.js": [mutant("Ignored")] })))).toMatchObject(
      inconclusive("nothing could be killed"),
    );
  });

  test("a story that changed only tests, types, settings and prose", async () => {
    const workspace = changed("src/pay.test.js", "src/types.d.ts", "vite.config.ts", "README.md");
    expect(await judge("true", { workspace })).toMatchObject(inconclusive("changed no file that could be mutated"));
  });
});

test("the tool gets exactly the story's files, quoted", async () => {
  const workspace = changed("src/pay.js", "src/it works.js", "docs/notes.md", "src/pay.test.js");
  const text = report({ "src/pay.js": [mutant("Killed")], "src/it works.js": [mutant("Killed")] });
  const tell = `printf '%s|%s' {files} "$REMAND_FILES" > told; ${leaves(text)}`;
  expect((await judge(tell, { workspace })).result).toBe("pass");
  expect(readFileSync(join(folder, "told"), "utf8")).toBe("src/pay.js,src/it works.js|src/pay.js,src/it works.js");
});
