import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { createChecksGate, type ChecksOptions } from "../../src/gates/checks/checks-gate.ts";
import { treeId } from "../../src/core/events/ids.ts";
import type { Judgement } from "../../src/core/gates/gate.ts";
import type { Gate, GateRequest } from "../../src/ports/gate.ts";
import { gateRequest, memoryEvidence } from "../contract/gate.ts";

type Run = string | { name?: string; run: string; environments?: string[]; timeoutMs?: number };

/** A folder for each test, and a checks gate over it. */
export function checksGateFixture() {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remand-checks-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const lines: string[] = [];
  const gate = (commands: readonly Run[], options: Partial<ChecksOptions> = {}): Gate =>
    createChecksGate({
      commands: commands.map((command) =>
        typeof command === "string" ? { name: command, run: command } : { name: command.run, ...command },
      ),
      environments: {},
      evidence: memoryEvidence(),
      clock: { now: () => performance.now(), sleep: () => Promise.resolve() },
      env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" },
      ...options,
    });
  return {
    folder: () => folder,
    lines,
    gate,
    judge(
      commands: readonly Run[],
      options: Partial<ChecksOptions> = {},
      request: Partial<GateRequest> = {},
    ): Promise<Judgement> {
      lines.length = 0;
      const control = { signal: new AbortController().signal, onOutput: (line: string) => lines.push(line) };
      return gate(commands, options).run(gateRequest({ path: folder, ...request }), control);
    },
  };
}

/** The same judgement, of a tree before. */
export const before = (judgement: Judgement): Judgement => ({ ...judgement, tree: treeId("tree-before") });
