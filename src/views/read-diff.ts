import type { Recorded } from "../domain/event.ts";
import type { StoryState } from "../domain/story-state.ts";
import { diffDocument, type DiffDocument, type DiffMaterial } from "./diff-document.ts";
import { diffPath } from "./diff-range.ts";
import { findingRounds } from "./finding-rounds.ts";

/** What is to be shown of a story's work, and how what changed between two states of it is read. */
export interface DiffWish {
  readonly state: StoryState;
  readonly lines: readonly Recorded[];
  readonly range: { readonly from: string; readonly to: string };
  readonly mostLines: number;
  read(from: string, to: string): Promise<DiffMaterial["files"]>;
}

/** Reads what each attempt changed, to say who wrote each line, and puts the document together. */
export async function readDiff({ state, lines, range, mostLines, read }: DiffWish): Promise<DiffDocument> {
  const changes = [];
  const { steps, seen } = diffPath(lines, range.to);
  for (const { attempt, from, to } of steps) changes.push({ attempt, files: await read(from, to) });
  const attempts = lines.flatMap(({ event }) => (event.type === "attempt.finished" ? [event.attempt] : []));
  const material = { ...range, attempts, files: await read(range.from, range.to), changes, lines, seen };
  return diffDocument({ ...material, findings: findingRounds(lines, state) }, mostLines);
}
