import type { Blame } from "../core/blame/blame.ts";
import type { GateName } from "../core/gates/gate.ts";
import type { LocationRecord, StoryState } from "../core/stories/story-state.ts";

/**
 * Returns the locations that blame holds responsible. The state records for each location (S3.26) how often it was
 * reworked, with the outcomes and the cost. A location that keeps failing is a trouble spot, even if each gate is
 * within its budget.
 */
export function blamedLocations(blame: Blame): string[] {
  if (blame.verdict !== "culprit" && blame.verdict !== "multi") return [];
  const responsible = blame.verdict === "culprit" ? blame.suspects.slice(0, 1) : blame.suspects;
  return [...new Set(responsible.map((suspect) => place(suspect.file, suspect.symbol)))];
}

function place(file: string, symbol: string | undefined): string {
  return symbol === undefined ? file : `${file}#${symbol}`;
}

/** Records that a failure was blamed on these locations. */
export function recordBlame(state: StoryState, places: readonly string[]): StoryState {
  return updateLocations(state, places, (record) => ({ ...record, sincePass: record.sincePass + 1 }));
}

/** Records that a rework of these locations begins. */
export function recordRework(state: StoryState, gate: GateName, places: readonly string[], at: number): StoryState {
  if (places.length === 0) return state;
  const counted = updateLocations(state, places, (record) => ({
    ...record,
    attempts: record.attempts + 1,
    lastAttemptAt: at,
  }));
  return { ...counted, watched: { gate, places } };
}

/** Records the outcome of a rework: the gate that sent the locations back has judged again. */
export function recordReworkOutcome(state: StoryState, gate: GateName, outcome: "pass" | "fail"): StoryState {
  if (state.watched === null || state.watched.gate !== gate) return state;
  const known = updateLocations(state, state.watched.places, (record) => ({
    ...record,
    outcomes: [...record.outcomes, outcome],
    sincePass: outcome === "pass" ? 0 : record.sincePass,
  }));
  return { ...known, watched: null };
}

/** Returns the first blamed location that failed at least `limit` times since its last pass. */
export function troubleSpot(state: StoryState, limit: number): string | null {
  const blamed = state.failing?.blame ? blamedLocations(state.failing.blame) : [];
  return blamed.find((at) => (state.locations[at]?.sincePass ?? 0) >= limit) ?? null;
}

export function resetLocations(state: StoryState): StoryState {
  return updateLocations(state, Object.keys(state.locations), (record) => ({ ...record, sincePass: 0 }));
}

const UNTOUCHED: LocationRecord = { attempts: 0, lastAttemptAt: 0, outcomes: [], totalCostUsd: 0, sincePass: 0 };

function updateLocations(
  state: StoryState,
  places: readonly string[],
  change: (record: LocationRecord) => LocationRecord,
): StoryState {
  if (places.length === 0) return state;
  const locations = { ...state.locations };
  for (const at of places) {
    // A path called "__proto__" must become an ordinary key.
    const before = Object.hasOwn(locations, at) ? locations[at] : undefined;
    Object.defineProperty(locations, at, {
      value: change(before ?? UNTOUCHED),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return { ...state, locations };
}
