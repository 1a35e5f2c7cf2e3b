import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { NO_SANDBOX } from "../../../src/adapters/process/launch.ts";
import { treeId } from "../../../src/core/events/ids.ts";
import { isHiddenText } from "../../../src/core/gates/check-output.ts";
import type { Judgement } from "../../../src/core/gates/gate.ts";
import { withHiddenChecks } from "../../../src/gates/checks/hidden-checks.ts";
import type { CheckoutRequest, ExperimentRunner } from "../../../src/ports/experiment-runner.ts";
import type { Gate } from "../../../src/ports/gate.ts";
import { gateRequest, memoryEvidence } from "../../contract/gate.ts";

const control = { signal: new AbortController().signal, onOutput: () => undefined };
const PASSED: Judgement = {
  gate: "checks",
  result: "pass",
  tree: treeId("tree-1"),
  findings: [],
  blocking: [],
  summary: "checks: pass (1 of 1)",
  evidence: [],
  durationMs: 1,
};

interface Options {
  readonly command: string;
  readonly judged?: Judgement;
  readonly exposure?: string;
  readonly changed?: readonly string[];
}

async function judge({ command, judged = PASSED, exposure, changed = [] }: Options) {
  const folder = mkdtempSync(join(tmpdir(), "remand-hidden-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const opened: CheckoutRequest[] = [];
  const evidence = memoryEvidence();
  const checkouts = {
    open: (request: CheckoutRequest) => {
      opened.push(request);
      return Promise.resolve({ path: folder, set: () => Promise.resolve("pinned"), close: () => Promise.resolve() });
    },
  } as unknown as ExperimentRunner;
  const gate = { name: "checks", criteria: () => ["npm test"], run: () => Promise.resolve(judged) } as unknown as Gate;
  const hidden = withHiddenChecks(gate, {
    workspace: { changedPaths: () => Promise.resolve(changed), fileAt: () => Promise.resolve("old") },
    testPaths: ["test/**"],
    oracle: [],
    product: [],
    commands: [],
    checkouts,
    hidden: {
      paths: ["test/secret.test.js"],
      copyInto: (path) => Promise.resolve(writeFileSync(join(path, "secret"), "swordfish\n")),
      sandbox: NO_SANDBOX,
      exposure: exposure ?? null,
    },
    checks: {
      commands: [{ name: "hidden", run: command }],
      environments: {},
      evidence,
      clock: { now: () => 0, sleep: () => Promise.resolve() },
      env: { PATH: process.env["PATH"] ?? "" },
    },
  });
  const judgement = await hidden.run(gateRequest({ path: folder, tree: treeId("tree-1") }), control);
  const report = judgement.hidden === undefined ? null : await evidence.read(judgement.hidden.report);
  return { judgement, report, opened, criteria: hidden.criteria() };
}

const tap = (name: string, file: string): string =>
  `printf '%s\\n' 'TAP version 13' 'not ok 1 - ${name}' '  ---' "  location: '${file}:4:1'" '  ...' '1..1'; exit 1`;

test("a pass says that they passed, and where agents could read them", async () => {
  const { judgement, report, opened, criteria } = await judge({ command: "cat secret" });
  expect(judgement).toMatchObject({ result: "pass", notes: ["hidden checks passed"], hidden: { failed: 0 } });
  expect(report).toContain("swordfish");
  // Build caches of this run are not kept.
  expect(opened).toMatchObject([{ isForAgent: true }]);
  expect(criteria).toEqual(["npm test"]);
  const exposed = await judge({ command: "true", exposure: "agents could read them (sandbox: none)" });
  expect(exposed.judgement.notes).toEqual(["hidden checks passed, but agents could read them (sandbox: none)"]);
});

test("a failure shows only the number, and people get a report", async () => {
  const { judgement, report } = await judge({
    command: `cat secret; ${tap("joins swordfish", "test/secret.test.js")}`,
  });
  expect(judgement).toMatchObject({ result: "fail", hidden: { failed: 1 } });
  expect(judgement.summary).toBe("checks: fail (the hidden checks failed: 1 failure), 1 to fix");
  const { hidden: _hidden, failure: _failure, ...seen } = judgement;
  expect(JSON.stringify(seen)).not.toMatch(/swordfish|secret/);
  expect(seen.evidence).toEqual([]);
  expect(report).toContain("joins swordfish");
  expect(isHiddenText(report!)).toBe(true);
});

test("a check without a result shows its reason only to people", async () => {
  const { judgement, report } = await judge({ command: "no-such-program-swordfish" });
  expect(["error", "blocked"]).toContain(judgement.result);
  expect(JSON.stringify({ ...judgement, hidden: null })).not.toContain("swordfish");
  expect(report).toContain("no-such-program-swordfish");
});

test("run only after a pass", async () => {
  const failed = { ...PASSED, result: "fail" } as const;
  const { judgement, opened } = await judge({ command: "true", judged: failed });
  expect(judgement).toBe(failed);
  expect(opened).toEqual([]);
});

test("with changed tests the base's are used, and failures in those were judged before", async () => {
  const changed = ["test/visible.test.js"];
  const other = await judge({ command: tap("visible", "test/visible.test.js"), changed });
  expect(other.judgement.result).toBe("pass");
  const own = await judge({ command: tap("mine", "test/secret.test.js"), changed });
  expect(own.judgement.result).toBe("fail");
});
