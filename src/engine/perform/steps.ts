import type { SendBack, StoryCommand } from "../../core/stories/command.ts";
import type { Brief, BriefEvidence, Survivor } from "../../core/stories/brief.ts";
import type { EvidenceId } from "../../core/events/ids.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import type { RoleAgent } from "../../ports/agent.ts";
import type { PreparedWorkspace } from "../../ports/workspace.ts";
import { type BriefMaterial, composeBrief } from "../../decide/compose-brief.ts";
import { writeBrief } from "../../write/briefs/brief.ts";
import { writeRefinementFeedback } from "../../write/reports/story-progress.ts";
import { isTextPhase } from "../../write/edits/story-sections.ts";
import { keepsNotes, notesSoFar, productsUpTo, scopeWithPage } from "../phase-product.ts";
import type { EngineWorld } from "../world.ts";
import type { Journal } from "../../ports/journal.ts";
import { judgedByAll } from "./attempt-prompt.ts";
import type { CommandContext, ContextOf } from "./command-context.ts";
import { GATE_REGISTRY } from "../../core/gates/registry.ts";

/** Writes and stores the brief, and sends the work back with it. */
export async function sendBack({
  command,
  ledger,
  world,
}: CommandContext<StoryCommand & SendBack & { readonly key: string }>): Promise<void> {
  const state = ledger.story(command.story);
  const { gate, variant, failure, failureLimit, route } = command;
  const place = await world.workspace.prepare(command.story);
  const scope = (await scopeWithPage(world, state, route.phase, place.path, command.scope)) ?? command.scope;
  const player = await world.roleRegistry.agentFor(route.role);
  const brief = composeBrief(state, { ...command, scope }, await materialFor(state, command, world, place, player));
  const length = player?.maxBriefChars === undefined ? {} : { maxChars: player.maxBriefChars };
  const kept = await world.evidence.keep(writeBrief(brief, { nonce: world.nonce(), ...length }));
  const note = keepsNotes(world, state) ? { note: await world.evidence.keep(noteOf(brief)) } : {};
  await ledger.append(command.story, [
    { type: "work.sent-back", gate, variant, failure, failureLimit, route, scope, brief: kept, ...note },
  ]);
}

/** Writes the note about the rework for the story's file. */
function noteOf({ summary, required, context, guidance }: Brief): string {
  return writeRefinementFeedback({ summary, findings: required, context: [...context, ...guidance] });
}

export async function restoreTree({ command, ledger, world }: ContextOf<"restore-tree">): Promise<void> {
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
  { path, base }: PreparedWorkspace,
  player: RoleAgent | null,
): Promise<BriefMaterial> {
  const judgement = command.gate === "person" ? null : (state.gates[command.gate]?.last ?? null);
  const evidence: BriefEvidence[] = await writtenSoFar(state, command, world, path);
  const notes = keepsNotes(world, state) ? await notesSoFar(world, state, path) : null;
  if (notes !== null)
    evidence.push({ title: "review notes of earlier iterations, from the story's file", text: notes });
  for (const id of judgement?.evidence ?? []) {
    const text = await world.evidence.read(id);
    if (text !== null)
      evidence.push({ title: `the output of the ${command.gate} gate`, text, fullAt: await shownAt(world, id, path) });
  }
  return {
    rolePrompt: player?.prompt ?? "",
    evidence,
    judgedBy: judgedByAll(world, state),
    filesModified: state.tree === null ? [] : await world.workspace.changedPaths(state.story.id, base, state.tree),
    survivors: survivorsIn(judgement),
    mutationScore: judgement !== null && reportsOf(judgement) === "survivors" ? scoreText(judgement.summary) : "",
    ci: ciRunIn(judgement),
    report: player?.reports === "stop" ? "stop" : "signal",
  };
}

/** Returns the score in parentheses after a gate's name and result. */
const scoreText = (summary: string): string => /^\w+: \w+ \((.+)\)$/.exec(summary)?.[1] ?? summary;

/** Returns where the agent finds the full text: a path from its folder, or else a command. */
async function shownAt({ evidence }: EngineWorld, id: EvidenceId, folder: string): Promise<string> {
  const file = (await evidence.show?.(id)) ?? null;
  if (file === null) return `remand evidence ${id}`;
  return file.startsWith(`${folder}/`) ? file.slice(folder.length + 1) : file;
}

/** Returns the current text of a section that an agent revises, and what that section was based on. */
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

const reportsOf = ({ gate }: Judgement) => GATE_REGISTRY[gate].reports;

function survivorsIn(judgement: Judgement | null): readonly Survivor[] {
  if (judgement === null || reportsOf(judgement) !== "survivors") return [];
  return judgement.findings.map(({ file = "", line = 0, message, detail = "", suggestedFix = "" }) => ({
    file,
    line,
    mutation: message,
    description: detail,
    recommendedTest: suggestedFix,
  }));
}

/** Returns which step of an outside run failed, and in which run. */
function ciRunIn(judgement: Judgement | null): BriefMaterial["ci"] {
  const run =
    judgement !== null && reportsOf(judgement) === "ci"
      ? judgement.runs?.find(({ result }) => result === "fail")
      : undefined;
  return run === undefined ? null : { step: run.command, runId: run.check };
}

/** Returns the journal's head, and its id if it has one, for the commit's trailers. */
export async function headNote(journal: Pick<Journal, "head" | "id">): Promise<string> {
  const { hash } = await journal.head();
  return journal.id === null ? hash : `${hash} ${journal.id}`;
}
