import { RemandError } from "../domain/error.ts";
import type { StartGate, StoryCommand } from "../domain/command.ts";
import type { GateName, Judgement } from "../domain/gate.ts";
import type { TreeId } from "../domain/ids.ts";
import type { Running, StoryState } from "../domain/story-state.ts";
import type { Gate, GateRequest } from "../ports/gate.ts";
import type { Place } from "../ports/workspace.ts";
import { appendWhile } from "./append-while.ts";
import type { Performing } from "./performing.ts";

/** Has a gate judge. A gate that breaks has not judged: that is its `error`, never the work's failure. */
export async function startGate(
  performing: Performing<StoryCommand & StartGate & { readonly key: string }>,
): Promise<void> {
  const { command, ledger, world, signal } = performing;
  const { story, gate: name, tree, stages } = command;
  const before = ledger.story(story);
  const gate = world.gates.get(name);
  if (!(await ledger.append(story, [{ type: "gate.started", gate: name, tree, stages }]))) return;
  const judgement =
    gate === undefined ? broken(name, tree, `there is no ${name} gate here`) : await judged(performing, gate, before);
  const isThisGate = (running: Running): boolean => running.type === "gate" && running.gate === name;
  if (signal.aborted) {
    // Only a gate that a person stopped is reported here; a stop of the whole engine reports for everybody.
    const { stopping } = ledger.story(story);
    if (stopping !== null)
      await appendWhile(ledger, story, isThisGate, [{ type: "work.interrupted", detail: `stopped by ${stopping}` }]);
    return;
  }
  await appendWhile(ledger, story, isThisGate, [{ type: "gate.judged", judgement }]);
}

async function judged(
  { command, world, signal }: Performing<StoryCommand & StartGate & { readonly key: string }>,
  gate: Gate,
  state: StoryState,
): Promise<Judgement> {
  const beganAt = world.clock.now();
  try {
    const place = await world.workspace.prepare(command.story);
    const control = { signal, onOutput: (line: string) => world.watcher.onOutput(command, line) };
    return await gate.judge(requestFor(state, command, place), control);
  } catch (error) {
    if (!(error instanceof RemandError)) throw error;
    return {
      ...broken(gate.name, command.tree, `${error.message} — ${error.hint}`),
      durationMs: world.clock.now() - beganAt,
    };
  }
}

function requestFor(state: StoryState, command: StartGate, place: Place): GateRequest {
  const known = state.gates[command.gate];
  const last = known?.last ?? null;
  return {
    story: state.story,
    phase: state.phase,
    path: place.path,
    tree: command.tree,
    commit: state.commit,
    base: place.base,
    previous: previousTree(state) ?? place.base,
    rules: state.policy!.gates[command.gate],
    stages: command.stages,
    since: command.since,
    earlier: last === null ? [] : last.findings.filter((finding) => command.answer.includes(finding.id)),
    overturned: known?.overturned ?? [],
    scope: state.scope,
    preExisting: state.preExisting,
    timeoutMs: command.timeoutMs,
  };
}

/** What was there before the attempt that is judged now. */
function previousTree(state: StoryState): TreeId | null {
  const trees = state.attempts.flatMap((attempt) =>
    attempt.outcome === "ready" && attempt.tree !== null ? [attempt.tree] : [],
  );
  return trees[trees.length - 2] ?? null;
}

function broken(gate: GateName, tree: TreeId, summary: string): Judgement {
  return { gate, tree, result: "error", findings: [], blocking: [], summary, evidence: [], durationMs: 0 };
}
