import type { ProofAnswer } from "./prove-blame.ts";

/** Joins a first cause with what was found without it. A cause that hid others is proven only with them. */
export function joinRounds(first: ProofAnswer, second: ProofAnswer): ProofAnswer {
  const runs = first.runs + second.runs;
  const sum = {
    runs,
    searchRuns: first.searchRuns + second.searchRuns,
    spentMs: first.spentMs + second.spentMs,
    experiments: [...(first.experiments ?? []), ...(second.experiments ?? [])],
  };
  if (second.hunks.length === 0 || !NAMES_CULPRITS.has(second.kind)) return { ...first, ...sum };
  // Without the innocent changes that had to be reverted with it, half of a larger change may remain, which fails by
  // itself.
  const known = [...first.hunks, ...(first.parts ?? []), ...(first.oldTests ?? [])];
  const isClean = (first.cure ?? []).every((id) => known.includes(id));
  const proven = second.proven && first.isPartial === true && isClean;
  const { isPartial: _first, isShown: _shown, parts: _parts, ...rest } = first;
  return {
    ...rest,
    ...sum,
    kind: "multi",
    proven,
    hunks: [...first.hunks, ...second.hunks.filter((id) => !first.hunks.includes(id))],
    because: proven ? "each of them breaks tests by itself" : second.because,
    ...(second.isPartial === true ? { isPartial: true } : {}),
  };
}

const NAMES_CULPRITS: ReadonlySet<ProofAnswer["kind"]> = new Set(["culprit", "multi"]);
