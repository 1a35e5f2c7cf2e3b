import type { BlameMaterial, ChangedHunk } from "../../core/blame/change.ts";
import { newCodeOf, usesOf } from "./new-code.ts";
import { changesByFunction, isHalf, partsOf } from "./parts.ts";
import type { ProofInput } from "./proof-input.ts";
import { rankBlame, type RankedBlame, type RankedHunk } from "./rank-blame.ts";
import { renamesOf, type Rename } from "./renames.ts";
import { companionsOf, environmentReason, flakyHint, testHunks } from "./triage.ts";

/** The input of a proof, and what is needed to assemble its trees. */
export interface PreparedProof {
  readonly input: ProofInput;
  /** The parts of each hunk. */
  readonly parts: ReadonlyMap<number, readonly ChangedHunk[]>;
  readonly rankedParts: readonly RankedHunk[];
  readonly renames: readonly Rename[];
}

/** Prepares a proof: the ranked suspects, their parts, and what reading alone shows about the failure. */
export function prepareProof(
  material: BlameMaterial,
  ranked: RankedBlame,
  limits: ProofInput["limits"],
): PreparedProof {
  const { hunks } = material;
  const renames = renamesOf(material);
  const parts = new Map<number, readonly ChangedHunk[]>();
  let nextId = hunks.reduce((most, { id }) => Math.max(most, id), -1) + 1;
  for (const hunk of hunks) {
    const own = partsOf(hunk, nextId);
    nextId += own.length;
    if (own.length > 0) parts.set(hunk.id, own);
  }
  const smallest = hunks.flatMap((hunk) => parts.get(hunk.id) ?? [hunk]);
  const rankedParts = rankBlame({ ...material, hunks: smallest }).hunks;
  const shares = new Map(rankedParts.map(({ hunk, confidence }) => [hunk.id, confidence]));
  const failing = new Set(material.failure.failures.map(({ file }) => file));
  const isOwnTest = ({ file }: ChangedHunk): boolean => failing.has(file) && material.files.get(file)?.isTest === true;
  const raised = material.failure.failures.flatMap((each) => [each, ...each.frames]);
  const isRaisedIn = ({ file, start, end }: ChangedHunk): boolean =>
    raised.some((at) => at.file === file && at.line !== null && at.line >= start && at.line <= end);
  const isAddedTest = (hunk: ChangedHunk): boolean =>
    hunk.removed.length === 0 && material.files.get(hunk.file)?.isTest === true && isRaisedIn(hunk);
  const tests = testHunks(material);
  const inTests = new Set(ranked.hunks.filter(({ isTest }) => isTest).map(({ hunk }) => hunk.id));
  const input = {
    addedTests: new Set(hunks.filter(isAddedTest).map(({ id }) => id)),
    inTestFiles: new Set(hunks.filter(isOwnTest).map(({ id }) => id)),
    inTests,
    oldTests: tests.isNewTest || tests.pinned.length === 0 ? [] : [...new Set([...tests.pinned, ...inTests])],
    hunks: ranked.hunks.map(({ hunk, confidence }) => ({ id: hunk.id, confidence })),
    companions: companionsOf(material, renames),
    functions: changesByFunction(material),
    parts: new Map(
      [...parts].map(([id, own]) => [
        id,
        own.map((part) => {
          // Parts that a message or a stack points to come before all that are only likely.
          const share = (shares.get(part.id) ?? 0) + (isRaisedIn(part) ? 1 : 0);
          return { id: part.id, confidence: isHalf(part) ? 0 : share };
        }),
      ]),
    ),
    renames: renames.map((rename) => rename.hunks),
    unreached: new Set(ranked.hunks.filter(({ isReached }) => !isReached).map(({ hunk }) => hunk.id)),
    uses: usesOf(material),
    newCode: newCodeOf(material, rankedParts),
    ...tests,
    looksEnvironmental: environmentReason(material) !== null,
    looksFlaky: flakyHint(material, ranked.isReached),
    limits,
  };
  return { input, parts, rankedParts, renames };
}
