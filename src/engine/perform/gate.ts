import { RemandError } from "../../core/events/error.ts";
import type { StartGate, StoryCommand } from "../../core/stories/command.ts";
import { roleOfReviewer } from "../../core/events/policy.ts";
import { type Judgement, errorJudgement, roleOfGate } from "../../core/gates/gate.ts";
import { GATE_REGISTRY } from "../../core/gates/registry.ts";
import { type RoleName, roleName } from "../../core/events/ids.ts";
import type { Dispute, Running, StoryState } from "../../core/stories/story-state.ts";
import type { Gate } from "../../ports/gate.ts";
import type { PreparedWorkspace } from "../../ports/workspace.ts";
import { appendIfRunning, isStep } from "../ledger.ts";
import { gateRequest } from "../gate-request.ts";
import { scopeWithPage } from "../phase-product.ts";
import { mostUsed, overrunOf } from "../spending-watch.ts";
import { identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { EngineWorld } from "../world.ts";
import { dispatchKey } from "../fencing.ts";
import { mergeTargetFirst } from "./delivery.ts";
import type { CommandContext, ContextOf } from "./command-context.ts";
import { tagWithHost, sessionsHere } from "./attempt-prompt.ts";

type GateCommand = StoryCommand & StartGate & { readonly key: string };

/** Runs a gate. A gate that breaks has the result `error`, which is never a failure of the work. */
export async function startGate(performing: CommandContext<GateCommand>): Promise<void> {
  const { command, ledger, world } = performing;
  const { story, gate: name, tree, stages } = command;
  const { judgesWithTarget } = GATE_REGISTRY[name];
  if (judgesWithTarget && world.integration !== null && (await mergeTargetFirst(performing, world.integration))) return;
  const before = ledger.story(story);
  const gate = world.gates.get(name);
  if (!(await ledger.append(story, [{ type: "gate.started", gate: name, tree, stages }]))) return;
  await judge(performing, gate, before);
}

/** Continues a gate whose reviewer outlived its engine: the gate runs again, and finds the reviewer's reply. */
export async function resumeGate(performing: CommandContext<GateCommand>): Promise<void> {
  const { command, ledger, world } = performing;
  const state = ledger.story(command.story);
  if (state.running?.type !== "gate" || state.running.gate !== command.gate) return;
  const key = dispatchKey(state) ?? command.key;
  await judge({ ...performing, command: { ...command, key } }, world.gates.get(command.gate), state);
}

async function judge(
  performing: CommandContext<GateCommand>,
  gate: Gate | undefined,
  before: StoryState,
): Promise<void> {
  const { command, ledger, world, signal, spending } = performing;
  const { story, gate: name, tree } = command;
  const judgement =
    gate === undefined
      ? errorJudgement(name, tree, `there is no ${name} gate here`)
      : await runGate(performing, gate, before);
  const isThisGate = (running: Running): boolean => running.type === "gate" && running.gate === name;
  if (signal.aborted) {
    // A stopping engine records all interruptions itself.
    const { stopping, running } = ledger.story(story);
    const budget = spending.exceeded();
    if (stopping !== null)
      await appendIfRunning(ledger, story, isThisGate, [
        { type: "work.interrupted", detail: `stopped by ${stopping}` },
      ]);
    else if (budget !== null && running !== null) {
      const { costUsd = null, tokens = null } = judgement;
      const used = mostUsed({ costUsd, tokens }, spending.used());
      const overrun = overrunOf(budget, world.clock.now() - running.since, used);
      const detail = `the ${budget} budget was used up during the ${name} gate`;
      await appendIfRunning(ledger, story, isThisGate, [{ type: "work.interrupted", detail, overrun }]);
    }
    return;
  }
  await appendIfRunning(ledger, story, isThisGate, [{ type: "gate.judged", judgement }]);
}

async function runGate(
  { command, world, signal, spending }: CommandContext<GateCommand>,
  gate: Gate,
  state: StoryState,
): Promise<Judgement> {
  const beganAt = world.clock.now();
  try {
    const place = await world.workspace.prepare(command.story, [], signal);
    const onOutput = (line: string): void => world.watcher.onOutput(command, line);
    const control = { signal, onOutput, meter: () => spending.meter() };
    const scope = await scopeWithPage(world, state, state.phase, place.path, state.scope);
    const sessions = sessionsHere(state.sessions, world.host);
    const branch = await watchBranch(world, state);
    const judgement = await gate.run({ ...gateRequest(state, place, command), scope, sessions }, control);
    const seen = await branch.putBack(judgement);
    return seen.sessions === undefined ? seen : { ...seen, sessions: tagWithHost(seen.sessions, world.host) };
  } catch (error) {
    if (!(error instanceof RemandError)) throw error;
    return {
      ...errorJudgement(gate.name, command.tree, `${error.message} — ${error.hint}`),
      durationMs: world.clock.now() - beganAt,
    };
  }
}

/**
 * Watches the story's branch during a gate, because a check runs the work's own code, which can move the branch to an
 * unverified commit. Such a move is reverted and reported as a finding; a commit that was there before is a person's,
 * and stays.
 */
async function watchBranch(
  { integration, workspace }: Pick<EngineWorld, "integration" | "workspace">,
  state: StoryState,
): Promise<{ putBack(judgement: Judgement): Promise<Judgement> }> {
  const { id } = state.story;
  const before = integration === null ? null : await integration.tip(id);
  return {
    async putBack(judgement) {
      if (integration === null || before !== state.commit || state.tree === null) return judgement;
      const after = await integration.tip(id);
      if (after === before) return judgement;
      // The unexpected commit changed the files too.
      await workspace.forget(id);
      await integration.align(id, { commit: state.commit, tree: state.tree }, after);
      const finding = identifyFinding({
        severity: "major",
        category: "branch-moved",
        message: `the branch of the story was moved to ${after?.slice(0, 12) ?? "nothing"} while the ${judgement.gate} gate ran; it is back at the commit that was judged, ${before.slice(0, 12)}`,
        source: "engine",
        suggestedFix: "Tests and checks must not commit to, or move, branches of the repository they run in.",
      });
      return { ...judgement, findings: [...judgement.findings, finding] };
    },
  };
}

/** Asks a reviewer who did not raise the finding whether it is upheld. Without such a reviewer, a person decides. */
export async function adjudicate({ command, ledger, world, signal, spending }: ContextOf<"adjudicate">): Promise<void> {
  const { story, finding: id, gate, role, key } = command;
  const state = ledger.story(story);
  const dispute = state.disputes.find((each) => each.finding === id);
  const finding = state.gates[gate]?.last?.findings.find((each) => each.id === id);
  if (dispute === undefined || finding === undefined) {
    const reason = "the finding no longer exists";
    await ledger.append(story, [
      { type: "finding.adjudicated", finding: id, upheld: true, by: "engine", reason, costUsd: 0, durationMs: 0 },
    ]);
    return;
  }
  if (!(await ledger.append(story, [{ type: "step.started", step: "adjudication" }]))) return;
  const beganAt = world.clock.now();
  const place = await world.workspace.prepare(story);
  const timeoutMs = state.policy!.limits.timeoutMs.critic;
  const asking = { gate, tree: state.tree!, stages: [], since: null, answer: [], timeoutMs, key };
  const ruling = await world.adjudicator.decide(
    {
      request: gateRequest(state, place, asking),
      role,
      finding,
      disputedBy: dispute.by,
      rebuttal: dispute.rationale,
      partial: involvedRoles(state, dispute, finding),
    },
    { signal, onOutput: (line) => world.watcher.onOutput(command, line), meter: () => spending.meter() },
  );
  if (signal.aborted) return;
  const { upheld, by, reason, asked, costUsd, tokens } = ruling;
  await appendIfRunning(ledger, story, isStep("adjudication"), [
    {
      type: "finding.adjudicated",
      finding: id,
      upheld,
      by: by ?? "engine",
      reason,
      asked,
      durationMs: world.clock.now() - beganAt,
      ...(costUsd === null ? {} : { costUsd }),
      ...(tokens === null ? {} : { tokens }),
    },
  ]);
}

/** Returns the roles that wrote the code, dispute the finding, or raised it. */
function involvedRoles(
  { attempts, gates, policy }: StoryState,
  { by, gate }: Dispute,
  { source }: Finding,
): RoleName[] {
  const reviewers = gates[gate]?.last?.stages?.map(({ reviewer }) => reviewer) ?? [];
  const raised = reviewers.length > 0 ? reviewers : [roleOfReviewer(policy!.roles, roleOfGate(gate))];
  return [...new Set([...attempts.map(({ role }) => role), ...raised, roleName(by), roleName(source)])];
}

/**
 * Lets gates prepare while an agent works. It stops when the agent ends; the gate itself then does what is missing, and
 * reports what failed here.
 */
export function startBesideWork(
  { gates }: Pick<EngineWorld, "gates">,
  state: StoryState,
  place: PreparedWorkspace,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
): { end(): Promise<void> } {
  const over = new AbortController();
  const planned = new Set(state.policy?.phases.flatMap((plan) => plan.gates) ?? []);
  const control = { signal: AbortSignal.any([signal, over.signal]), onOutput: () => undefined };
  const isReady = state.attempts.length <= 1 && state.openBase === undefined && state.policy !== null;
  const under = [...gates.values()]
    .filter(({ name, prepare }) => isReady && prepare !== undefined && planned.has(name))
    .map(async (gate) => {
      const timeoutMs = state.policy!.limits.timeoutMs.critic;
      const asked = { gate: gate.name, tree: place.tree, stages: [], since: null, answer: [], timeoutMs, key };
      try {
        await gate.prepare!({ ...gateRequest(state, place, asked), commit: place.base }, control);
      } catch (error) {
        if (!(error instanceof RemandError) && !control.signal.aborted) throw error;
      }
    });
  const all = Promise.allSettled(under);
  return {
    async end() {
      over.abort();
      for (const each of await all) if (each.status === "rejected") throw each.reason;
    },
  };
}
