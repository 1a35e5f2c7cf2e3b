import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionRecord, StopPlan } from "../../app/stop-hook.ts";
import { RemandError } from "../../core/events/error.ts";
import type { Recorded } from "../../core/events/event.ts";
import { readRecorded } from "../../core/schemas/recorded.ts";
import { isRecord } from "../../stdx/assert.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { createNodeFiles } from "../../adapters/files/node-files.ts";
import { ensureStateFolder } from "../../adapters/git/repository.ts";
import { knownDurationMs } from "../../config/duration.ts";
import type { Blame } from "../../core/blame/blame.ts";
import { printedIn } from "../../core/gates/evidence-paths.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import type { Evidence } from "../../ports/evidence.ts";
import { blame } from "./blame.ts";

/** A conversation that was asked about, with everything that happened since a person spoke last. */
export interface HeldSession extends SessionRecord {
  readonly lines: readonly Recorded[];
}

/** The name comes from outside and may hold anything, so the file has another. */
export function sessionFile(state: string, session: string): string {
  return join(state, "hooks", `${sha256(session).slice(0, 24)}.json`);
}

/**
 * `null` where nothing was ever asked. A record that cannot be read is an error and never a fresh start: a
 * conversation whose record breaks each time would be held back for ever.
 */
export async function readSession(file: string): Promise<HeldSession | null> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw unreadable(file, error.message);
  });
  if (text === null) return null;
  const value = parseJson(file, text);
  if (!isRecord(value) || value["schema"] !== "remand.hook/1" || !Array.isArray(value["lines"]))
    throw unreadable(file, "it is no record of a conversation");
  const lines = value["lines"].map((line) => {
    const read = readRecorded(line);
    if (!read.ok) throw unreadable(file, read.problem);
    return read.recorded;
  });
  const { session, at, standing, why, blocks, tree } = value;
  if (!isStanding(standing) || typeof blocks !== "number") throw unreadable(file, "it does not say how it stands");
  return {
    schema: "remand.hook/1",
    session: String(session),
    at: Number(at),
    standing,
    why: String(why),
    blocks,
    tree: String(tree),
    lines,
  };
}

export async function writeSession(state: string, record: HeldSession): Promise<void> {
  await ensureStateFolder(state);
  await createNodeFiles().write(sessionFile(state, record.session), `${JSON.stringify(record)}\n`);
}

const isStanding = (value: unknown): value is SessionRecord["standing"] =>
  value === "begun" || value === "passed" || value === "held" || value === "released";

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(file, (error as Error).message);
  }
}

function unreadable(file: string, why: string): RemandError {
  return new RemandError(
    "file-unreadable",
    `${file} cannot be read: ${why}`,
    "Delete the file; the next stop starts over.",
  );
}

export interface Suspicion {
  readonly root: string;
  readonly plan: StopPlan;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly evidence: Evidence;
  readonly judgement: Judgement;
  /** Does anything differ from the base? */
  readonly hasChanged: boolean;
}

/** Which part of what was changed broke the check. A person waits meanwhile, so it may not take long. */
export async function blameOfStop(suspicion: Suspicion): Promise<Blame> {
  const { root, plan, env, evidence, judgement } = suspicion;
  const [log] = judgement.evidence;
  const output = log === undefined ? null : await evidence.read(log);
  if (output === null) return unknown("the failed check left nothing to read");
  const failed = judgement.runs?.find(({ result }) => result === "fail");
  const isElsewhere = failed !== undefined && Object.hasOwn(plan.config.environments, failed.environment);
  const { runs, time, prove } = plan.config.blame;
  const report = await blame(
    root,
    {
      config: plan.config,
      output: printedIn(output),
      command: isElsewhere ? null : (failed?.command ?? null),
      prove,
      at: null,
      base: null,
      limits: { runs, timeMs: Math.min(knownDurationMs(time), LONGEST_MS) },
      signal: plan.signal,
      onRun: () => undefined,
      onNotice: (text) => plan.onNotice(text),
    },
    env,
  );
  return asTarget(report.blame ?? unknown("the check passes when it is run again"), suspicion);
}

const LONGEST_MS = 120_000;

/**
 * What was red before, in a conversation that changed nothing, is not this conversation's. Where it did change
 * something, the check is what it works towards, and is not met yet.
 */
function asTarget(found: Blame, { hasChanged }: Suspicion): Blame {
  if (!hasChanged) return { ...found, verdict: "pre-existing", suspects: [], explanation: "No file was changed." };
  // Changes that cannot be told apart are all of this conversation's, so its agent can be asked to fix them.
  if (found.verdict === "too-broad") return { ...found, verdict: "unknown" };
  if (found.verdict !== "pre-existing") return found;
  return { ...found, verdict: "unmet", explanation: `It was red before, and is not met yet. ${found.explanation}` };
}

function unknown(explanation: string): Blame {
  return { verdict: "unknown", basis: "ranked", confidence: 0, suspects: [], explanation, testRuns: 0 };
}
