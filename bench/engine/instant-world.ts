import { createSystemClock } from "../../src/adapters/clock/system-clock.ts";
import { createLocalQueue } from "../../src/adapters/queue/local-queue.ts";
import { presetPolicy } from "../../src/config/presets.ts";
import { failureFingerprint, identifyFinding } from "../../src/core/gates/finding-identity.ts";
import type { GateName, Judgement } from "../../src/core/gates/gate.ts";
import { evidenceId, storyId, treeId, type StoryId } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import { bareStory, type Story } from "../../src/core/stories/story.ts";
import type { EngineWorld } from "../../src/engine/world.ts";
import type { AgentResult, RoleRegistry } from "../../src/ports/agent.ts";
import type { Gate, GateRequest } from "../../src/ports/gate.ts";
import type { EngineJournal } from "../../src/ports/journal.ts";
import type { Outbox } from "../../src/ports/notifier.ts";
import type { Workspace } from "../../src/ports/workspace.ts";

export interface InstantOptions {
  readonly journal: EngineJournal;
  /** How many stories, agents and gates may run at once. */
  readonly atOnce: number;
  /** How many times the checks fail before they pass. */
  readonly failures: number;
  /** The gates; by default integrity and checks. */
  readonly gates?: readonly GateName[];
  /** In memory by default. */
  readonly outbox?: Outbox;
}

/**
 * A world in which agents, gates, code and evidence are in memory and take no time; only the journal is real. Measures
 * the cost of the engine itself.
 */
export function instantWorld({ journal, atOnce, failures, outbox }: InstantOptions): EngineWorld {
  const clock = createSystemClock();
  const attempts = new Map<string, number>();
  const kept = new Map<string, string>();
  const limits = { developers: atOnce, critics: atOnce, auditors: atOnce, checks: atOnce, engine: atOnce };
  return {
    root: "/project",
    journal,
    clock,
    queue: createLocalQueue({ limits, clock }),
    workspace: workspaceOf(attempts),
    pages: { find: async () => null, read: async () => null, write: async () => undefined },
    evidence: {
      keep: async (text) => {
        const id = evidenceId(hex(kept.size, 64));
        kept.set(id, text);
        return id;
      },
      read: async (id) => kept.get(id) ?? null,
      placeOf: (id) => `.remand/evidence/${id}`,
    },
    outbox: outbox ?? memoryOutbox(),
    gates: new Map([gate("integrity", 0, attempts), gate("checks", failures, attempts)]),
    integration: null,
    forge: null,
    fixLint: null,
    blameSearch: null,
    adjudicator: { decide: () => Promise.reject(new Error("nothing is disputed here")) },
    roleRegistry: roleRegistryOf(attempts),
    watcher: { onLines: () => undefined, onOutput: () => undefined },
    nonce: () => "n0nc3n0nc3n0nc3",
  };
}

/** A policy without limits, except on concurrency. */
export function instantPolicy(atOnce: number, gates: readonly GateName[] = ["integrity", "checks"]): Policy {
  const base = presetPolicy("critic-audit");
  const lane = { developers: atOnce, critics: atOnce, auditors: atOnce, checks: atOnce };
  return {
    ...base,
    phases: [{ phase: "implement", gates }],
    gates: { ...base.gates, checks: { ...base.gates.checks, blame: false } },
    limits: { ...base.limits, run: { costUsd: null, tokens: null, timeMs: null } },
    concurrency: { ...lane, stories: atOnce },
  };
}

export function instantStory(name: string): Story {
  return bareStory(storyId(name), `Retry the payment of ${name}`, {
    labels: ["payments"],
    criteria: [{ id: "AC1", text: "a declined payment is tried again, three times at most" }],
    body: "A payment that is declined for a passing reason is tried again before the customer hears of it.",
  });
}

function memoryOutbox(): Outbox {
  const held = new Map<string, string>();
  return {
    put: async (key, text) => void held.set(key, text),
    get: async (key) => held.get(key) ?? null,
    drop: async (key) => void held.delete(key),
  };
}

function roleRegistryOf(attempts: Map<string, number>): RoleRegistry {
  const run = async (id: string): Promise<AgentResult> => {
    attempts.set(id, (attempts.get(id) ?? 0) + 1);
    return {
      status: "completed",
      session: null,
      text: `The retry is there.\n\nREADY_FOR_REVIEW: ${id}\n\nSummary: payments are tried again, and a test shows it\n`,
      output: null,
      tokens: 12_345,
      costUsd: 0.12,
      denied: [],
      error: null,
      durationMs: 61_000,
    };
  };
  // A workspace's path is its story's id, so that the agent knows its story.
  const agent = { name: "instant", run: ({ cwd }: { readonly cwd: string }) => run(cwd) };
  return { agentFor: async () => ({ agent, model: null, prompt: "You write code.", reports: "signal", env: {} }) };
}

function workspaceOf(attempts: ReadonlyMap<string, number>): Workspace {
  const base = hex(0, 40);
  const trees = new Map<string, string>();
  const now = (story: StoryId): { tree: ReturnType<typeof treeId>; commit: string } => {
    const made = attempts.get(story) ?? 0;
    const name = `${story}-${made}`;
    if (!trees.has(name)) trees.set(name, made === 0 ? base : hex(trees.size + 1, 40));
    const tree = trees.get(name)!;
    return { tree: treeId(tree), commit: tree };
  };
  return {
    prepare: async (story) => ({ path: story, branch: `remand/${story}`, base, ...now(story) }),
    keep: async (story) => now(story),
    adopt: async (_story, known) => known,
    currentState: async (story) => now(story),
    changedPaths: async (_story, from, to) => (from === to ? [] : ["src/payment.ts", "test/payment.test.ts"]),
    diff: async () => "",
    fileAt: async () => null,
    restore: async (_story, tree) => ({ tree, commit: tree }),
    restorePaths: async (story) => now(story),
    forget: async () => undefined,
    dispose: async () => undefined,
  };
}

function gate(name: GateName, failures: number, attempts: ReadonlyMap<string, number>): [GateName, Gate] {
  const found = identifyFinding({
    severity: "critical",
    category: "test",
    message: "payment > is tried again: expected 3 calls, saw 1",
    source: name,
    file: "test/payment.test.ts",
    line: 41,
  });
  const failure = failureFingerprint([found], "");
  const judge = async ({ story, tree }: GateRequest): Promise<Judgement> => {
    const isRed = (attempts.get(story.id) ?? 0) <= failures;
    const findings = isRed ? [found] : [];
    return {
      gate: name,
      tree,
      result: isRed ? "fail" : "pass",
      findings,
      blocking: findings.map(({ id }) => id),
      ...(isRed ? { failure } : {}),
      summary: isRed ? "1 of 12 tests failed" : "12 tests passed",
      evidence: [],
      durationMs: 2300,
    };
  };
  return [name, { name, criteria: () => ["npm test"], run: judge }];
}

/** A fake hash that takes no time to compute. */
function hex(count: number, length: number): string {
  return count.toString(16).padStart(length, "a");
}
