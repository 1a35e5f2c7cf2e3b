import type { StoryId } from "../domain/ids.ts";
import type { RunOutline } from "../domain/outline.ts";
import type { RunState } from "../domain/run-state.ts";
import { evolve } from "../policy/evolve.ts";
import type { JournalReader, Outlines, Stored } from "../ports/journal.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import { foldJournal } from "./fold-journal.ts";
import { outlinesFrom } from "./outline-text.ts";
import { RUN_PART, SNAPSHOT_FORMAT, unpackedOutlines, type RunText } from "./snapshot.ts";

type Source = Pick<JournalReader, "read" | "latestSnapshot" | "latestOutlines" | "snapshotParts">;

/**
 * How all stories stand, for whoever wants to know no more than that. The newest snapshot's outlines are read, and
 * whole states only of those stories that the lines after it may change. `only`: it is enough to tell of these; others
 * are there where they matter to them, and all of them where one of these is not known.
 */
export async function foldOutlines(journal: Source, only: readonly StoryId[] | null = null): Promise<RunOutline> {
  if (only !== null) {
    const some = await fromOutlines(journal, only);
    if (some !== null && only.every((id) => lookup(some.stories, id, byText) !== undefined)) return some;
  }
  return (await fromOutlines(journal, null)) ?? (await foldJournal(journal)).state;
}

/** `null`: there is no snapshot to begin with, or another has taken its place in the meantime. */
async function fromOutlines(journal: Source, only: readonly StoryId[] | null): Promise<RunOutline | null> {
  const snapshot = await journal.latestOutlines(SNAPSHOT_FORMAT, only ?? undefined);
  if (snapshot === null) return null;
  const { position } = snapshot;
  const [runPart] = (await journal.snapshotParts(SNAPSHOT_FORMAT, position, [RUN_PART])) ?? [];
  if (runPart === undefined) return null;
  const run = JSON.parse(runPart.text) as RunText;
  const lines: Stored[] = [];
  for await (const line of journal.read(position)) lines.push(line);
  const changed = changedBy(lines, run);
  const whole = await journal.snapshotParts(SNAPSHOT_FORMAT, position, changed);
  const texts = only === null ? textsOf(snapshot) : await withOthers(journal, run, snapshot, changed);
  if (whole === null || texts === null) return null;
  const started = unpackedOutlines(
    run,
    texts,
    whole.map(({ text }) => text),
  );
  // The other stories' outlines pass for states here. Of those `evolve` asks only how they ended and whom they wait for.
  let state = started as unknown as RunState;
  for (const line of lines) state = evolve(state, line);
  return state;
}

function textsOf({ outlines }: Pick<Outlines, "outlines">): readonly string[] {
  return outlines.filter(({ name }) => name !== RUN_PART).map(({ text }) => text);
}

/** The outlines that were asked for, those of `more`, and those of all that any of them waits for. */
async function withOthers(
  journal: Source,
  run: RunText,
  { position, outlines }: Outlines,
  more: readonly string[],
): Promise<readonly string[] | null> {
  const known = new Map(outlines.map(({ name, text }) => [name, text]));
  const tried = new Set([RUN_PART, ...known.keys()]);
  const awaited = (texts: readonly string[]): readonly string[] =>
    outlinesFrom(texts, run.policies).flatMap(({ story }) => story.dependsOn);
  for (let wanted = [...more, ...awaited(textsOf({ outlines }))]; wanted.length > 0;) {
    const names = [...new Set(wanted)].filter((name) => !tried.has(name));
    if (names.length === 0) break;
    for (const name of names) tried.add(name);
    const found = await journal.latestOutlines(SNAPSHOT_FORMAT, names);
    if (found?.position !== position) return null;
    for (const { name, text } of found.outlines) known.set(name, text);
    wanted = [...awaited(textsOf(found))];
  }
  known.delete(RUN_PART);
  return [...known.values()];
}

/** The lines' own stories, and those that depend on them: they are put in another place when their way is clear. */
function changedBy(lines: readonly Stored[], run: RunText): string[] {
  const own = new Set(lines.flatMap(({ story }) => story ?? []));
  const dependents = new Map(run.dependents);
  return [...new Set([...own, ...[...own].flatMap((id) => dependents.get(id) ?? [])])];
}
