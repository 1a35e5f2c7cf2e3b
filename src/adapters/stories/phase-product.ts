import type { GateRequest } from "../../ports/gate.ts";
import type { StoryPages } from "../../ports/story-pages.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { isTextPhase, productIn } from "../../writers/story-sections.ts";

export interface PhaseProductOptions {
  readonly workspace: Pick<Workspace, "diff" | "fileAt">;
  readonly pages: Pick<StoryPages, "find">;
}

/** What the phase made, for whoever is to judge it: the section of the story's file, or the code since the story began. */
export function createPhaseProduct(options: PhaseProductOptions): (request: GateRequest) => Promise<string> {
  const { workspace, pages } = options;
  return async ({ story, phase, path, base, tree }) => {
    if (!isTextPhase(phase)) return workspace.diff(story.id, base, tree);
    const page = await pages.find(story.id, path);
    const text = page === null ? null : await workspace.fileAt(story.id, tree, page.path);
    return text === null ? "" : (productIn(text, phase, story.completed.includes(phase)) ?? "");
  };
}
