import type { RunOutline } from "../domain/outline.ts";
import type { RunState } from "../domain/run-state.ts";
import { evolve } from "../policy/evolve.ts";
import type { JournalReader, Stored } from "../ports/journal.ts";
import { foldJournal } from "./fold-journal.ts";
import { RUN_PART, SNAPSHOT_FORMAT, unpackedOutlines, type RunText } from "./snapshot.ts";

type Source = Pick<JournalReader, "read" | "latestSnapshot" | "latestOutlines" | "snapshotParts">;

/**
 * How all stories stand, for whoever wants to know no more than that. The newest snapshot's outlines are read, and
 * whole states only of those stories that the lines after it may change.
 */
export async function foldOutlines(journal: Source): Promise<RunOutline> {
  return (await fromOutlines(journal)) ?? (await foldJournal(journal)).state;
}

/** `null`: there is no snapshot to begin with, or another has taken its place in the meantime. */
async function fromOutlines(journal: Source): Promise<RunOutline | null> {
  const snapshot = await journal.latestOutlines(SNAPSHOT_FORMAT);
  if (snapshot === null) return null;
  const { position, outlines } = snapshot;
  const [runPart] = (await journal.snapshotParts(SNAPSHOT_FORMAT, position, [RUN_PART])) ?? [];
  if (runPart === undefined) return null;
  const run = JSON.parse(runPart.text) as RunText;
  const lines: Stored[] = [];
  for await (const line of journal.read(position)) lines.push(line);
  const whole = await journal.snapshotParts(SNAPSHOT_FORMAT, position, changedBy(lines, run));
  if (whole === null) return null;
  const started = unpackedOutlines(
    run,
    outlines.filter(({ name }) => name !== RUN_PART).map(({ text }) => text),
    whole.map(({ text }) => text),
  );
  // The other stories' outlines pass for states here. Of those `evolve` asks only how they ended and whom they wait for.
  let state = started as unknown as RunState;
  for (const line of lines) state = evolve(state, line);
  return state;
}

/** The lines' own stories, and those that depend on them: they are put in another place when their way is clear. */
function changedBy(lines: readonly Stored[], run: RunText): string[] {
  const own = new Set(lines.flatMap(({ story }) => story ?? []));
  const dependents = new Map(run.dependents);
  return [...new Set([...own, ...[...own].flatMap((id) => dependents.get(id) ?? [])])];
}
