import type { StoryId } from "../../core/events/ids.ts";
import type { Problem } from "../../core/events/error.ts";
import type { Story } from "../../core/stories/story.ts";
import { nearMiss } from "../../stdx/plain-text.ts";
import { type PlacedStory, readPlacedStory, refusedLink } from "./story-file.ts";

export interface StoriesReading {
  readonly stories: readonly Story[];
  readonly problems: readonly Problem[];
}

type ReadStory = PlacedStory & { readonly story: Story };

/** A file in the folder of the stories; `text` is `null` for a symbolic link, which is refused without reading it. */
export interface StorySource {
  readonly path: string;
  readonly text: string | null;
}

/** Reads all story files, and checks what needs all of them. A broken file hides no other. */
export function readStoryFiles(files: readonly StorySource[]): StoriesReading {
  const read = files.map(({ path, text }) => (text === null ? refusedLink(path) : readPlacedStory(path, text)));
  const known = new Map<StoryId, ReadStory>();
  // Branches and worktrees are files: on many systems, two names that differ only by case are the same.
  const byFoldedId = new Map<string, ReadStory>();
  for (const one of read) {
    if (one.story === null) continue;
    const folded = one.story.id.toLowerCase();
    const earlier = byFoldedId.get(folded);
    if (earlier === undefined) {
      known.set(one.story.id, one as ReadStory);
      byFoldedId.set(folded, one as ReadStory);
    } else one.problems.push(usedTwice(one, one.story.id, earlier));
  }
  const broken = new Set(read.filter((one) => one.story === null).map((one) => one.name));
  const suggest = suggestions(known);
  for (const one of known.values()) {
    missingDependencies(one, known, broken, suggest);
    unreadDependencies(one, known);
  }
  nameCycles(known);
  return { stories: [...known.values()].map((one) => one.story), problems: read.flatMap((one) => one.problems) };
}

function usedTwice(one: PlacedStory, id: StoryId, earlier: ReadStory): Problem {
  const hint = "Give one of the two another id. Only the other one is read until then.";
  const { file } = earlier.idPlace();
  const message =
    id === earlier.story.id
      ? `the id "${id}" is already used by ${file}`
      : `the id "${id}" differs only by case from "${earlier.story.id}" of ${file}, so their branches can be one file`;
  return { ...one.idPlace(), severity: "error", message, hint };
}

function missingDependencies(
  one: ReadStory,
  known: ReadonlyMap<string, ReadStory>,
  broken: ReadonlySet<string>,
  suggest: (id: string) => string | undefined,
): void {
  for (const id of one.story.dependsOn) {
    if (known.has(id)) continue;
    const meant = broken.has(id) ? undefined : suggest(id);
    const message = broken.has(id)
      ? `story "${one.story.id}" depends on "${id}", whose file could not be read`
      : `story "${one.story.id}" depends on "${id}", and there is no such story`;
    const remedy = broken.has(id) ? "Fix that file first." : "Write that story, or take the dependency out.";
    const hint = meant === undefined ? remedy : `did you mean "${meant}"?`;
    one.problems.push({ ...one.dependencyPlace(id), severity: "error", message, hint });
  }
}

/** Reports an unknown key that names stories: it probably means a dependency, for which the story would not wait. */
function unreadDependencies(one: ReadStory, known: ReadonlyMap<string, ReadStory>): void {
  for (const { key, names, place } of one.unreadLists()) {
    const reported = one.problems.findIndex(({ line }) => line === place.line);
    if (
      one.problems[reported]?.severity !== "warning" ||
      !names.every((name) => known.has(name) && name !== one.story.id)
    )
      continue;
    const message = `unknown key "${key}" names ${names.length === 1 ? "a story" : "stories"}: this story would not wait`;
    const hint = `To make it wait, write \`depends_on\`. A key of your own begins with "x-": x-${key}.`;
    one.problems[reported] = { ...place, severity: "error", message, hint };
  }
}

/** Comparing a name with every story is slow, so only the first few missing names get a suggestion. */
const MOST_SUGGESTIONS = 20;

function suggestions(known: ReadonlyMap<string, ReadStory>): (id: string) => string | undefined {
  let asked = 0;
  return (id) => (++asked > MOST_SUGGESTIONS ? undefined : nearMiss(id, known.keys()));
}

function nameCycles(known: ReadonlyMap<string, ReadStory>): void {
  const graph = new Map([...known].map(([id, one]) => [id, one.story.dependsOn]));
  for (const cycle of findCycles(graph)) {
    const last = known.get(cycle.at(-1)!)!;
    const message = `these stories wait for each other: ${cycleText(cycle)}`;
    const hint = "Take one of these dependencies out.";
    last.problems.push({ ...last.dependencyPlace(cycle[0]!), severity: "error", message, hint });
  }
}

/**
 * Finds the cycles in a graph of dependencies, each once, as its ids in order (`a → b → a` is `[a, b]`). Every cycle
 * contains a named one, so a graph without named cycles has none.
 *
 * A depth-first walk with its own stack: chains may have any length, and each edge is visited once.
 */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const depth = new Map<string, number>();
  for (const root of graph.keys()) {
    if (done.has(root)) continue;
    const path: { readonly id: string; next: number }[] = [{ id: root, next: 0 }];
    depth.set(root, 0);
    while (path.length > 0) {
      const top = path.at(-1)!;
      const to = graph.get(top.id)![top.next++];
      if (to === undefined) {
        done.add(top.id);
        depth.delete(top.id);
        path.pop();
      } else if (depth.has(to)) {
        // Naming costs more than visiting the edge, so it is limited.
        if (cycles.length < MOST_NAMED) cycles.push(path.slice(depth.get(to)).map((step) => step.id));
      } else if (!done.has(to) && graph.has(to)) {
        depth.set(to, path.length);
        path.push({ id: to, next: 0 });
      }
    }
  }
  return cycles;
}

/** Further cycles are named once these are fixed. */
const MOST_NAMED = 100;

const MOST_SHOWN = 20;

/** Formats a cycle as `a → b → a`, shortened in the middle if it is long. */
export function cycleText(cycle: readonly string[]): string {
  const names = cycle.length > MOST_SHOWN ? [...cycle.slice(0, MOST_SHOWN - 2), "…", cycle.at(-1)!] : cycle;
  return [...names, cycle[0]!].join(" → ");
}
