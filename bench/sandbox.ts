import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSandboxes } from "../src/adapters/sandbox/open-sandboxes.ts";
import { runProcess } from "../src/adapters/process/run-process.ts";
import type { Sandbox } from "../src/ports/sandbox.ts";
import { levelText } from "../src/core/events/isolation.ts";
import { median, Unusable, type BenchResult } from "./bench-result.ts";

const ROUNDS = 41;
const LIMIT_MS = 15;

/**
 * The overhead of a sandbox at the start and end of a program: with copies of HOME and of the git history, as for a
 * check.
 */
export async function run(): Promise<readonly BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), "remand-bench-sandbox-"));
  const at = (name: string): string => join(folder, name);
  try {
    for (const name of ["home", "top/.git", "top/.remand/worktrees/a", "state"])
      mkdirSync(at(name), { recursive: true });
    const { checks, problem } = await openSandboxes({
      settings: { mode: "auto", network: "shared" },
      userState: at("state"),
      user: { home: at("home"), env: process.env, docker: false, read: [], write: [], variables: [], checks: [] },
      project: {
        top: at("top"),
        commonDir: at("top/.git"),
        state: at("top/.remand"),
        remandFolders: [at("state")],
        packages: [],
        readableFolders: [],
      },
    });
    if (problem !== null) throw new Unusable(problem);
    const times = new Map<Sandbox | null, number[]>([
      [null, []],
      [checks, []],
    ]);
    for (let round = 0; round < ROUNDS; round++)
      for (const [sandbox, list] of times) list.push(await timeOf(sandbox, at("top/.remand/worktrees/a"), at("home")));
    const [plain, inside] = [median(times.get(null)!), median(times.get(checks)!)];
    return [
      {
        name: `a program in ${levelText(checks.level)}`,
        value: inside - plain,
        unit: "ms more",
        ratio: (inside - plain) / LIMIT_MS,
        against: `the limit (${LIMIT_MS} ms); without it ${plain.toFixed(1)} ms`,
        limit: 1,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function timeOf(sandbox: Sandbox | null, cwd: string, home: string): Promise<number> {
  const began = performance.now();
  const env = { PATH: process.env["PATH"] ?? "", HOME: home };
  const { exitCode } = await runProcess({ command: ["/bin/true"], cwd, env, timeoutMs: 20_000, sandbox });
  if (exitCode !== 0) throw new Error(`/bin/true ended with ${exitCode}`);
  return performance.now() - began;
}
