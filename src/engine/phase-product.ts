import { RemandError } from "../core/events/error.ts";
import type { AttemptFinished } from "../core/events/event.ts";
import { fingerprint } from "../core/events/ids.ts";
import { PHASES, type Phase, type Story } from "../core/stories/story.ts";
import type { PhaseProduct } from "../core/stories/prompt.ts";
import type { Scope } from "../core/stories/scope.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import type { StoryPage } from "../ports/files.ts";
import { readPhaseProduct } from "../parse/agent/agent-answer.ts";
import { sha256 } from "../stdx/sha256.ts";
import {
  SECTION_OF_PHASE,
  type TextPhase,
  appendRefinementNote,
  isTextPhase,
  productEdited,
  productIn,
  refinementNotes,
  replaceProduct,
} from "../write/edits/story-sections.ts";
import type { EngineWorld } from "./world.ts";

/*
 * The product of refine, research and plan is their section of the story's file, on the story's branch. The agent puts
 * it into its message and the engine writes it, so that such an agent needs no write access. If the agent wrote the
 * section itself, that text is taken. Every other byte of the file is restored.
 */

/** Whether the story has text phases. Only then is the story's file part of the work. */
export function hasTextPhases({ policy }: StoryState): boolean {
  return policy?.phases.some(({ phase }) => isTextPhase(phase)) ?? false;
}

/**
 * Whether review notes are written into the story's file: always with text phases, and in the preset that promises them
 * (S4.49), unless the stories are outside the repository.
 */
export function keepsNotes({ pages }: Pick<EngineWorld, "pages">, state: StoryState): boolean {
  return hasTextPhases(state) || (state.policy?.preset === "story" && pages.isOutside !== true);
}

/** The story's file while an agent works on one of its sections. */
export interface ProductEdit {
  readonly place: string;
  readonly path: string;
  readonly phase: TextPhase;
  /** Whether a section of that name may be the product without Remand's mark. */
  readonly isComplete: boolean;
  /** The file before the agent's turn; `isThere`: whether the worktree has the file at all. */
  readonly text: string;
  readonly isThere: boolean;
  /** The file at the end of the last attempt. */
  readonly kept: string;
}

/** Opens the story's file for a text phase; `null` if the phase's product is code. */
export async function openProductEdit(
  { pages, workspace }: EngineWorld,
  { story, tree }: StoryState,
  phase: Phase,
  place: string,
): Promise<ProductEdit | null> {
  if (!isTextPhase(phase)) return null;
  const { path, original } = requirePage(await pages.find(story.id, place), story);
  const now = await pages.read(place, path);
  const kept = (tree === null ? null : await workspace.fileAt(story.id, tree, path)) ?? original ?? "";
  const isComplete = story.completed.includes(phase);
  return { place, path, phase, isComplete, text: now ?? original ?? "", isThere: now !== null, kept };
}

/**
 * Takes the section that the agent wrote, from the file or from its message; without a `message`, nothing is taken.
 * Returns whether there is a section, now or from an earlier turn of the same attempt.
 */
export async function takeProduct({ pages }: EngineWorld, edit: ProductEdit, message: string | null): Promise<boolean> {
  const { place, path, phase, isComplete, text, isThere } = edit;
  const left = await pages.read(place, path);
  const edited = left === null || left === text ? null : productEdited(text, left, phase, isComplete);
  const product = message === null ? null : (edited ?? readPhaseProduct(message, SECTION_OF_PHASE[phase]));
  const now = product === null ? text : replaceProduct(text, phase, product, isComplete);
  const isToBeThere = isThere || product !== null;
  if (isToBeThere && now !== left) await pages.write(place, path, now);
  return product !== null || text !== edit.kept;
}

/** Describes what is missing if neither the agent's message nor its file has the section. */
export function missingProduct(phase: TextPhase): string {
  return `the section "## ${SECTION_OF_PHASE[phase]}" has to be in the message, whole, before the signal`;
}

/** The story's file after an attempt has ended. */
export interface FinishedPage extends StoryPage {
  readonly place: string;
  readonly base: string;
}

/** Opens the story's file after an attempt; `null` if nothing is written into it, or it is gone. */
export async function openFinishedPage(world: EngineWorld, state: StoryState): Promise<FinishedPage | null> {
  if (!keepsNotes(world, state)) return null;
  const { pages, workspace } = world;
  const { path, base } = await workspace.prepare(state.story.id);
  const page = await pages.find(state.story.id, path);
  return page === null ? null : { ...page, place: path, base };
}

/** Notes a rework that changed something in the story's file, with its number and the review's feedback (S4.49). */
export async function noteRework(
  { pages, workspace, evidence }: EngineWorld,
  before: StoryState,
  phase: Phase,
  { place, path, original }: FinishedPage,
): Promise<void> {
  const { story, rework, reworks, tree } = before;
  const feedback = rework?.note === undefined ? null : await evidence.read(rework.note);
  const text = await pages.read(place, path);
  if (feedback === null || text === null || tree === null) return;
  const was = (await workspace.fileAt(story.id, tree, path)) ?? original ?? "";
  const isComplete = story.completed.includes(phase);
  const isChanged = isTextPhase(phase)
    ? productIn(text, phase, isComplete) !== productIn(was, phase, isComplete)
    : (await workspace.changedPaths(story.id, tree, (await workspace.currentState(story.id)).tree)).some(
        (each) => each !== path,
      );
  // Without a change nothing is noted: the trees stay the same, and the stall rule sees that.
  if (isChanged) await pages.write(place, path, appendRefinementNote(text, { iteration: reworks, phase, feedback }));
}

/** Returns whether the attempt changed the product of its phase, and the product's hash. */
export async function productOfAttempt(
  { workspace }: EngineWorld,
  before: StoryState,
  phase: Phase,
  page: FinishedPage,
  after: Pick<AttemptFinished, "tree" | "changed" | "outcome">,
): Promise<Pick<AttemptFinished, "productChanged" | "product">> {
  const { story, tree } = before;
  if (!isTextPhase(phase)) {
    const code = after.changed.filter((path) => path !== page.path);
    const diff = await workspace.diff(story.id, page.base, after.tree);
    return { productChanged: code.length > 0, product: identity(withoutFile(diff, page.path)) };
  }
  const isComplete = story.completed.includes(phase);
  const textAt = async (at: string | null): Promise<string | null> =>
    at === null ? null : workspace.fileAt(story.id, at, page.path);
  const was = productIn((await textAt(tree)) ?? page.original ?? "", phase, isComplete);
  const kept = await textAt(after.tree);
  if (kept === null && after.outcome.type === "ready") throw notKept(page.path);
  const now = productIn(kept ?? "", phase, isComplete);
  return { productChanged: now !== null && now !== was, product: identity(now ?? "") };
}

/** Returns the existing sections in the story's worktree, from the first phase up to this one. */
export async function productsUpTo(
  { pages }: EngineWorld,
  { story, policy }: StoryState,
  last: Phase,
  place: string,
): Promise<PhaseProduct[]> {
  const page = await pages.find(story.id, place);
  const text = page === null ? null : ((await pages.read(place, page.path)) ?? page.original);
  if (text === null) return [];
  const phases = policy?.phases.map(({ phase }) => phase) ?? [];
  // A phase that was completed before the run has a product too, even if this run does not have the phase.
  const wanted = [...new Set([...story.completed, ...phases])].filter(isTextPhase);
  return (Object.keys(SECTION_OF_PHASE) as TextPhase[]).flatMap((phase): PhaseProduct[] => {
    if (!wanted.includes(phase) || PHASES.indexOf(phase) > PHASES.indexOf(last)) return [];
    const product = productIn(text, phase, story.completed.includes(phase));
    return product === null ? [] : [{ phase, heading: SECTION_OF_PHASE[phase], text: product }];
  });
}

/** Returns what reviewers said in earlier iterations, from the story's file; `null` if there is nothing yet. */
export async function notesSoFar({ pages }: EngineWorld, { story }: StoryState, place: string): Promise<string | null> {
  const page = await pages.find(story.id, place);
  const text = page === null ? null : await pages.read(place, page.path);
  return text === null ? null : refinementNotes(text);
}

/**
 * Returns what an attempt may change, with the story's file added if the phase's product, or a note of Remand, is in
 * it.
 */
export async function scopeWithPage(
  world: EngineWorld,
  state: StoryState,
  phase: Phase,
  place: string,
  scope: Scope | null,
): Promise<Scope | null> {
  if (!keepsNotes(world, state)) return scope;
  const page = await world.pages.find(state.story.id, place);
  if (page === null) return scope;
  if (isTextPhase(phase))
    return {
      allow: [page.path],
      deny: scope?.deny ?? [],
      tests: "frozen",
      exceptions: "never",
      reason: scope?.reason ?? `the product of ${phase} is text: no code changes`,
    };
  if (scope === null || scope.allow.length === 0 || scope.allow.includes(page.path)) return scope;
  return { ...scope, allow: [...scope.allow, page.path] };
}

function requirePage(page: StoryPage | null, story: Story): StoryPage {
  if (page !== null) return page;
  throw new RemandError(
    "file-missing",
    `the file of the story ${story.id} is neither in the checkout nor on its branch`,
    "Put it back: its phases write their sections into it.",
  );
}

function notKept(path: string): RemandError {
  return new RemandError(
    "workspace-broken",
    `git ignores ${path}, so changes to it are not on the story's branch`,
    "Take it out of .gitignore, or leave out the phases refine, research and plan.",
  );
}

const identity = (text: string): ReturnType<typeof fingerprint> => fingerprint(sha256(text).slice(0, 16));

/** Returns a diff without the part about one file. */
function withoutFile(diff: string, path: string): string {
  return diff
    .split(/^(?=diff --git )/m)
    .filter((part) => !part.startsWith(`diff --git a/${path} b/${path}\n`))
    .join("");
}
