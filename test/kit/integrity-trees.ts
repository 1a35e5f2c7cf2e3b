import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createIntegrityGate, type IntegrityOptions } from "../../src/gates/integrity/integrity-gate.ts";
import type { Finding } from "../../src/core/gates/finding.ts";
import type { Judgement } from "../../src/core/gates/gate.ts";
import { treeId } from "../../src/core/events/ids.ts";
import type { Scope, TestPolicy } from "../../src/core/stories/scope.ts";
import type { Gate, GateRequest } from "../../src/ports/gate.ts";
import { gateRequest, memoryEvidence } from "../contract/gate.ts";

export type Tree = Readonly<Record<string, string | Uint8Array>>;

/** Trees in a real repository, and the integrity gate over them. */
export interface IntegrityTrees {
  readonly workspace: IntegrityOptions["workspace"];
  gateOf(options?: Partial<IntegrityOptions>): Gate;
  requestFor(base: Tree, now: Tree, scope?: GateRequest["scope"], previous?: Tree): GateRequest;
  judge(
    base: Tree,
    now: Tree,
    scope?: GateRequest["scope"],
    previous?: Tree,
    options?: Partial<IntegrityOptions>,
    changes?: Partial<GateRequest>,
  ): Promise<Judgement>;
  clear(): void;
}

export const control = () => ({ signal: new AbortController().signal, onOutput: () => undefined });

export const scopeOf = (tests: TestPolicy, more: Partial<Scope> = {}): Scope => ({
  allow: [],
  deny: [],
  tests,
  exceptions: "never",
  reason: "rework",
  ...more,
});

export const lines = (findings: readonly Finding[]): string[] =>
  findings.map(({ severity, file, message }) => `${severity} ${file}: ${message}`);

export function integrityTrees(): IntegrityTrees {
  const repository = mkdtempSync(join(tmpdir(), "remand-integrity-"));
  const git = (...args: string[]): string =>
    execFileSync("git", ["-C", repository, "-c", "core.autocrlf=false", ...args], {
      maxBuffer: 64 * 1024 * 1024,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  git("init", "--quiet");

  /** Puts files into git and gives the name of their tree. */
  function treeOf(files: Tree): string {
    rmSync(join(repository, "work"), { recursive: true, force: true });
    git("read-tree", "--empty");
    for (const [path, text] of Object.entries(files)) {
      const place = join(repository, "work", path);
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, text);
    }
    if (Object.keys(files).length > 0) git("--work-tree", join(repository, "work"), "add", "--all", "--force", ".");
    return git("write-tree").trim();
  }

  const workspace: IntegrityOptions["workspace"] = {
    changedPaths: async (_story, from, to) =>
      git("diff", "--name-only", "--no-renames", "-z", from, to)
        .split("\0")
        .filter((path) => path !== ""),
    diff: async (_story, from, to) => git("diff", "--find-renames", from, to),
    fileAt: async (_story, at, path) => {
      try {
        return git("show", `${at}:${path}`);
      } catch {
        return null;
      }
    },
  };
  const clock = { now: () => performance.now(), sleep: () => Promise.resolve() };
  const testPaths = ["**/*.test.*", "**/test_*.py", "**/{test,tests}/**", "**/*_test.go"];
  const trees: IntegrityTrees = {
    workspace,
    gateOf: (options = {}) =>
      createIntegrityGate({ workspace, evidence: memoryEvidence(), clock, testPaths, ...options }),
    requestFor: (base, now, scope = null, previous = base) =>
      gateRequest({ base: treeOf(base), previous: treeOf(previous), tree: treeId(treeOf(now)), scope }),
    judge: (base, now, scope = null, previous = base, options = {}, changes = {}) =>
      trees.gateOf(options).run({ ...trees.requestFor(base, now, scope, previous), ...changes }, control()),
    clear: () => rmSync(repository, { recursive: true, force: true }),
  };
  return trees;
}
