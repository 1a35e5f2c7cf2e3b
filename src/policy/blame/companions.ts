import type { BlameMaterial } from "../../domain/change.ts";

/** Names shared by more hunks than this say nothing about which of them belong together. */
const MOST_SHARING = 12;
const SHORTEST_NAME = 4;

/**
 * Hunks that cannot be taken back one without the other, as far as names tell: those that share a name which came or
 * went with this iteration. Half of a rename does not build, and what fails then says nothing about the cause.
 */
export function companionsOf({ hunks, files, before }: BlameMaterial): ReadonlyMap<number, readonly number[]> {
  const [old, now] = [namesIn(before), namesIn(files)];
  const sharing = new Map<string, Set<number>>();
  for (const hunk of hunks) {
    for (const [lines, here, elsewhere] of [
      [hunk.added, now, old],
      [hunk.removed, old, now],
    ] as const) {
      for (const line of lines.slice(0, 2000)) {
        for (const [name] of line.matchAll(/[A-Za-z_$][\w$]*/g)) {
          // Words of the language are names nowhere, so they cannot have come or gone.
          if (name.length < SHORTEST_NAME || !here.has(name) || elsewhere.has(name)) continue;
          const ids = sharing.get(name);
          if (ids === undefined) sharing.set(name, new Set([hunk.id]));
          else ids.add(hunk.id);
        }
      }
    }
  }
  const companions = new Map<number, Set<number>>();
  for (const ids of sharing.values()) {
    if (ids.size < 2 || ids.size > MOST_SHARING) continue;
    for (const id of ids) companions.set(id, new Set([...(companions.get(id) ?? []), ...ids]));
  }
  return new Map(
    [...companions].map(([id, others]) => [id, [...others].filter((other) => other !== id).sort((a, b) => a - b)]),
  );
}

function namesIn(files: BlameMaterial["files"]): Set<string> {
  const names = new Set<string>();
  for (const file of files.values()) for (const line of file.names) for (const name of line) names.add(name);
  return names;
}

/** A set of hunks with everything that must go with it. */
export function closedOver(ids: readonly number[], companions: ReadonlyMap<number, readonly number[]>): number[] {
  const closed = new Set(ids);
  const queue = [...ids];
  for (let at = 0; at < queue.length; at++) {
    for (const other of companions.get(queue[at]!) ?? []) {
      if (closed.has(other)) continue;
      closed.add(other);
      queue.push(other);
    }
  }
  return [...closed].sort((a, b) => a - b);
}
