import type { BlameMaterial, ChangedHunk } from "../../src/core/blame/change.ts";
import { wordsIn } from "../../src/decide/blame/words.ts";

/** Scores of all hunks by some ranking; higher is likelier. */
export type Baseline = (material: BlameMaterial) => readonly number[];

/** S3 as written: changed files that fail, then their hunks, by the line if one is named, or by an import. */
export const asWritten: Baseline = ({ failure, hunks, files }) => {
  const frames = failure.failures.flatMap((each) => [
    ...each.frames,
    ...(each.file === null ? [] : [{ file: each.file, line: each.line ?? 0 }]),
  ]);
  const imported = new Set(failure.failures.flatMap((each) => files.get(each.file ?? "")?.imports ?? []));
  return hunks.map((hunk) => {
    const inFile = frames.filter((frame) => frame.file === hunk.file);
    if (inFile.some((frame) => frame.line >= hunk.start && frame.line <= hunk.end)) return 3;
    return inFile.length > 0 ? 2 : imported.has(hunk.file) ? 1 : 0;
  });
};

/** A simple mix: frames, import distance, and words weighted by rarity. */
export const quickMix: Baseline = (material) => {
  const { failure, hunks, files } = material;
  const tests = [...new Set(failure.failures.flatMap((each) => each.file ?? []))];
  const distances = distancesFrom(tests, files);
  const bags = hunks.map((hunk) => bagOf(hunk));
  const counts = new Map<string, number>();
  for (const bag of bags) for (const word of bag) counts.set(word, (counts.get(word) ?? 0) + 1);
  const said = new Set(
    failure.failures.flatMap((each) => [...wordsIn([each.message, each.test ?? "", ...each.identifiers].join(" "))]),
  );
  const rarity = (word: string): number => Math.log(hunks.length / (counts.get(word) ?? hunks.length)) + 0.1;
  return hunks.map((hunk, at) => {
    const frame = failure.failures.some((each) => each.frames.some(({ file }) => file === hunk.file)) ? 1 : 0;
    const distance = distances.get(hunk.file);
    const shared = [...bags[at]!].filter((word) => said.has(word)).reduce((sum, word) => sum + rarity(word), 0);
    const size = Math.sqrt([...bags[at]!].reduce((sum, word) => sum + rarity(word) ** 2, 1));
    return frame + (distance === undefined ? 0 : 1 / (1 + distance)) + shared / size;
  });
};

function bagOf(hunk: ChangedHunk): Set<string> {
  return new Set([...hunk.added, ...hunk.removed, hunk.file].flatMap((line) => [...wordsIn(line)]));
}

function distancesFrom(start: readonly string[], files: BlameMaterial["files"]): Map<string, number> {
  const distances = new Map(start.map((path) => [path, 0]));
  const queue = [...start];
  for (let at = 0; at < queue.length; at++) {
    for (const next of files.get(queue[at]!)?.imports ?? []) {
      if (distances.has(next)) continue;
      distances.set(next, distances.get(queue[at]!)! + 1);
      queue.push(next);
    }
  }
  return distances;
}

/** The rank of the best true hunk, where hunks with equal scores share their ranks evenly. */
export function rankOf(scores: readonly number[], truth: readonly number[]): number {
  const best = Math.max(...truth.map((id) => scores[id]!));
  const better = scores.filter((score) => score > best).length;
  const same = scores.filter((score, id) => score === best && !truth.includes(id)).length;
  return better + 1 + same / 2;
}
