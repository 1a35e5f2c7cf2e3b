/** Work that an agent does for a story, in this order. A preset may leave some out; `implement` is always there. */
export const PHASES = ["refine", "research", "plan", "implement"] as const;
export type Phase = (typeof PHASES)[number];

/** S1's steps inside `implement`: the test, the types, the code, the commit. */
export const TDD_PHASES = ["red", "domain", "green", "commit"] as const;
export type TddPhase = (typeof TDD_PHASES)[number];

/** Rework of a phase undoes it and every later one: they were built on its product. */
export function phasesFrom(first: Phase, phases: readonly Phase[]): Phase[] {
  return phases.filter((phase) => PHASES.indexOf(phase) >= PHASES.indexOf(first));
}
