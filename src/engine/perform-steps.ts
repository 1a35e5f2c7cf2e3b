import type { KnownFailure } from "../domain/base-failures.ts";
import { RemandError } from "../domain/error.ts";
import type { SendBack, StoryCommand } from "../domain/command.ts";
import type { Brief, BriefEvidence, Survivor } from "../domain/brief.ts";
import type { BaseRun, GateName, Judgement } from "../domain/gate.ts";
import type { RunState } from "../domain/run-state.ts";
import type { StoryState } from "../domain/story-state.ts";
import type { Baseline } from "../ports/gate.ts";
import type { Place } from "../ports/workspace.ts";
import { composeBrief, type BriefMaterial } from "../policy/compose-brief.ts";
import { entries } from "../stdx/sorted-map.ts";
import { writeBrief } from "../writers/brief.ts";
import { writeRefinementFeedback } from "../writers/refinement-feedback.ts";
import { isTextPhase } from "../writers/story-sections.ts";
import { headNote } from "./head-note.ts";
import { appendWhile, isStep } from "./append-while.ts";
import { gateRequest } from "./gate-request.ts";
import { judgedByAll } from "./judged-by.ts";
import type { Performing, PerformingOf } from "./performing.ts";
import { hasTextPhases, productsUpTo, scopeWithPage } from "./phase-product.ts";
import type { EngineWorld } from "./world.ts";

/** Makes the story's place and looks at what fails before anything is changed. */
export async function startStory({ command, ledger, world, signal }: PerformingOf<"start-story">): Promise<void> {
  if (!(await ledger.append(command.story, [{ type: "story.started", by: "engine" }]))) return;
  const state = ledger.story(command.story);
  if (state.commit !== "" && state.attempts.length === 0) await bringUpToDate(state, world);
  const place = await world.workspace.prepare(command.story, state.story.dependsOn, signal);
  const { tree, commit } = place;
  const failing = new Set<string>();
  const flaky = new Set<string>();
  const baseRuns: { [G in GateName]?: BaseRun } = {};
  const planned = new Set(state.policy!.phases.flatMap((plan) => plan.gates));
  for (const [name, gate] of world.gates) {
    if (gate.baseline === undefined || !planned.has(name)) continue;
    const timeoutMs = state.policy!.limits.timeoutMs.critic;
    const { key } = command;
    const request = gateRequest(state, place, {
      gate: name,
      tree,
      stages: [],
      since: null,
      answer: [],
      timeoutMs,
      key,
    });
    const onOutput = (line: string): void => world.watcher.onOutput(command, line);
    const seen = await gate.baseline(request, { signal, onOutput });
    const trouble = signal.aborted ? null : baseTrouble(seen);
    if (trouble !== null) throw trouble;
    seen.failing.forEach((each) => failing.add(each));
    seen.flaky.forEach((each) => flaky.add(each));
    if (seen.run !== undefined) baseRuns[name] = seen.run;
  }
  if (signal.aborted) return;
  const known = knownElsewhere(ledger.state(), state);
  await appendWhile(ledger, command.story, isStep("prepare"), [
    {
      type: "story.prepared",
      tree,
      commit,
      preExisting: [...failing],
      flaky: [...flaky].filter((each) => !failing.has(each)),
      ...(known.length === 0 ? {} : { known }),
      ...(Object.keys(baseRuns).length === 0 ? {} : { baseRuns }),
    },
  ]);
}

/** Why no attempt can be verified: an agent is not paid to find that out. */
export function baseTrouble({ unusable = [], needsVariables = [] }: Baseline): RemandError | null {
  const [first] = unusable;
  if (needsVariables.length > 0)
    return new RemandError(
      "check-unusable",
      `The checks fail without ${needsVariables.join(", ")} and pass with ${needsVariables.length === 1 ? "it" : "them"}; names that look like secrets are withheld from checks`,
      `Pass ${needsVariables.length === 1 ? "it" : "them"}: env: [${needsVariables.join(", ")}] in ~/.config/remand/config.yaml or remand.yaml.`,
    );
  if (first === undefined) return null;
  return new RemandError(
    "check-unusable",
    unusable.map(({ check, why }) => `\`${check}\`: ${why}`).join("; "),
    "Install what is missing, or correct the command under gates.checks.commands; remand doctor --run tries it.",
  );
}

/** A person said that the base was fixed: the story, of which nothing is done yet, begins with what is there now. */
async function bringUpToDate(state: StoryState, world: EngineWorld): Promise<void> {
  const { id, title } = state.story;
  if (world.integration === null || (await world.integration.standing(id, state.commit)).isCurrent) return;
  const { hash } = await world.journal.head();
  const note = { attempt: 0, subject: `${title}: with the base as it is now`, journalHead: hash };
  await world.integration.update(id, await world.workspace.look(id), note);
}

/** What people called known when another story asked: nobody is asked twice about one test. */
function knownElsewhere(run: RunState, { known = [] }: StoryState): readonly KnownFailure[] {
  const mine = new Set(known.map(({ test }) => test));
  const others = new Map<string, KnownFailure>();
  for (const [, state] of entries(run.stories))
    for (const each of state.known ?? []) if (!mine.has(each.test)) others.set(each.test, each);
  return [...others.values()];
}

/** Writes the brief, keeps it, and sends the work back with it. */
export async function sendBack({
  command,
  ledger,
  world,
}: Performing<StoryCommand & SendBack & { readonly key: string }>): Promise<void> {
  const state = ledger.story(command.story);
  const { gate, variant, failure, failureLimit, route } = command;
  const place = await world.workspace.prepare(command.story);
  const scope = (await scopeWithPage(world, state, route.phase, place.path, command.scope)) ?? command.scope;
  const brief = composeBrief(state, { ...command, scope }, await materialFor(state, command, world, place));
  const kept = await world.evidence.keep(writeBrief(brief, { nonce: world.nonce() }));
  const note = hasTextPhases(state) ? { note: await world.evidence.keep(noteOf(brief)) } : {};
  await ledger.append(command.story, [
    { type: "work.sent-back", gate, variant, failure, failureLimit, route, scope, brief: kept, ...note },
  ]);
}

/** What goes into the story's file about it. */
function noteOf({ summary, required, context, guidance }: Brief): string {
  return writeRefinementFeedback({ summary, findings: required, context: [...context, ...guidance] });
}

export async function restoreTree({ command, ledger, world }: PerformingOf<"restore-tree">): Promise<void> {
  const state = ledger.story(command.story);
  const journalHead = await headNote(world.journal);
  const note = { attempt: state.attempts.length, subject: "back to the best tree", journalHead };
  const { tree, commit } = await world.workspace.restore(command.story, command.tree, note);
  await ledger.append(command.story, [{ type: "tree.restored", tree, commit }]);
}

async function materialFor(
  state: StoryState,
  command: SendBack,
  world: EngineWorld,
  { path, base }: Place,
): Promise<BriefMaterial> {
  const judgement = command.gate === "person" ? null : (state.gates[command.gate]?.last ?? null);
  const evidence: BriefEvidence[] = await writtenSoFar(state, command, world, path);
  for (const id of judgement?.evidence ?? []) {
    const text = await world.evidence.read(id);
    if (text !== null)
      evidence.push({ title: `what the ${command.gate} gate saw`, text, fullAt: world.evidence.placeOf(id) });
  }
  const player = await world.roster.playing(command.route.role);
  return {
    rolePrompt: player?.prompt ?? "",
    evidence,
    judgedBy: judgedByAll(world, state),
    filesModified: state.tree === null ? [] : await world.workspace.changed(state.story.id, base, state.tree),
    survivors: survivorsIn(judgement),
    mutationScore: judgement?.gate === "mutation" ? judgement.summary : "",
    ci: ciRunIn(judgement),
    report: "signal",
  };
}

/** Whoever is to revise a section is shown it as it stands, and what it was built on. */
async function writtenSoFar(
  state: StoryState,
  { route }: SendBack,
  world: EngineWorld,
  path: string,
): Promise<BriefEvidence[]> {
  if (!isTextPhase(route.phase)) return [];
  const products = await productsUpTo(world, state, route.phase, path);
  return products.toReversed().map(({ phase, heading, text }) => ({
    title:
      phase === route.phase
        ? `the section ${heading} as it stands: this is to be revised`
        : `the section ${heading}, made by an earlier phase`,
    text,
  }));
}

function survivorsIn(judgement: Judgement | null): readonly Survivor[] {
  if (judgement?.gate !== "mutation") return [];
  return judgement.findings.map(({ file = "", line = 0, message, detail = "", suggestedFix = "" }) => ({
    file,
    line,
    mutation: message,
    description: detail,
    recommendedTest: suggestedFix,
  }));
}

/** Which step of an outside run failed, and in which run. */
function ciRunIn(judgement: Judgement | null): BriefMaterial["ci"] {
  const run = judgement?.gate === "ci" ? judgement.runs?.find(({ result }) => result === "fail") : undefined;
  return run === undefined ? null : { step: run.command, runId: run.check };
}
