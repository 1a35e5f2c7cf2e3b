import { RemandError } from "../domain/error.ts";
import type { StartGate, StoryCommand } from "../domain/command.ts";
import type { GateName, Judgement } from "../domain/gate.ts";
import type { TreeId } from "../domain/ids.ts";
import type { Running, StoryState } from "../domain/story-state.ts";
import type { Gate } from "../ports/gate.ts";
import { appendWhile } from "./append-while.ts";
import { broughtUpToDate } from "./perform-delivery.ts";
import { gateRequest } from "./gate-request.ts";
import type { Performing } from "./performing.ts";
import { watchBranch } from "./watch-branch.ts";
import { scopeWithPage } from "./phase-product.ts";
import { ledHere, sessionsHere } from "./sessions-here.ts";
import { mostUsed, overrunOf } from "./spending-watch.ts";

/** Has a gate judge. A gate that breaks has not judged: that is its `error`, never the work's failure. */
export async function startGate(
  performing: Performing<StoryCommand & StartGate & { readonly key: string }>,
): Promise<void> {
  const { command, ledger, world, signal, spending } = performing;
  const { story, gate: name, tree, stages } = command;
  if (name === "merge" && world.integration !== null && (await broughtUpToDate(performing, world.integration))) return;
  const before = ledger.story(story);
  const gate = world.gates.get(name);
  if (!(await ledger.append(story, [{ type: "gate.started", gate: name, tree, stages }]))) return;
  const judgement =
    gate === undefined ? broken(name, tree, `there is no ${name} gate here`) : await judged(performing, gate, before);
  const isThisGate = (running: Running): boolean => running.type === "gate" && running.gate === name;
  if (signal.aborted) {
    // Not the stop of the whole engine, which reports for everybody.
    const { stopping, running } = ledger.story(story);
    const budget = spending.exceeded();
    if (stopping !== null)
      await appendWhile(ledger, story, isThisGate, [{ type: "work.interrupted", detail: `stopped by ${stopping}` }]);
    else if (budget !== null && running !== null) {
      const { costUsd = null, tokens = null } = judgement;
      const used = mostUsed({ costUsd, tokens }, spending.used());
      const overrun = overrunOf(budget, world.clock.now() - running.since, used);
      const detail = `the ${budget} budget was used up during the ${name} gate`;
      await appendWhile(ledger, story, isThisGate, [{ type: "work.interrupted", detail, overrun }]);
    }
    return;
  }
  await appendWhile(ledger, story, isThisGate, [{ type: "gate.judged", judgement }]);
}

async function judged(
  { command, world, signal, spending }: Performing<StoryCommand & StartGate & { readonly key: string }>,
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
    const judgement = await gate.judge({ ...gateRequest(state, place, command), scope, sessions }, control);
    const seen = await branch.putBack(judgement);
    return seen.sessions === undefined ? seen : { ...seen, sessions: ledHere(seen.sessions, world.host) };
  } catch (error) {
    if (!(error instanceof RemandError)) throw error;
    return {
      ...broken(gate.name, command.tree, `${error.message} — ${error.hint}`),
      durationMs: world.clock.now() - beganAt,
    };
  }
}

function broken(gate: GateName, tree: TreeId, summary: string): Judgement {
  return { gate, tree, result: "error", findings: [], blocking: [], summary, evidence: [], durationMs: 0 };
}
