import type { KnownFlake } from "../adapters/gates/flakes.ts";
import type { Journal } from "../ports/journal.ts";
import { noteFlakes, type Flake } from "../views/flakes.ts";

/** The flakes that the journal tells of. It is read on from where it was left the last time. */
export function knownFlakes(journal: Pick<Journal, "read">): () => Promise<readonly KnownFlake[]> {
  const known = new Map<string, Flake>();
  let position = 0;
  let turn: Promise<void> = Promise.resolve();
  const readOn = async (): Promise<void> => {
    for await (const line of journal.read(position)) {
      noteFlakes(known, line);
      position = line.position;
    }
  };
  return async () => {
    // One after the other: two at once would count a line twice.
    turn = turn.then(readOn, readOn);
    await turn;
    return [...known.values()];
  };
}
