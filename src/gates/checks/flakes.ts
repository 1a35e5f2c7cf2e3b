import { isConclusive } from "../../core/events/error.ts";
import { matchesTest } from "../../core/gates/base-failures.ts";
import { identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { GateRequest } from "../../ports/gate.ts";
import { passedWith } from "./check-ending.ts";
import { type CheckFault, isBlocking } from "./check-faults.ts";
import type { CheckOutcome } from "./run-check.ts";

/** A test that gave two results on one tree at an earlier time. */
export interface KnownFlake {
  /** The name as in `Judgement.flaky`. */
  readonly name: string;
  readonly times: number;
  /** The last trees on which it was flaky. */
  readonly trees: readonly string[];
  /** The stories in which it was flaky. */
  readonly stories: readonly string[];
}

/** Tests whose flakiness was not caused by this story. */
export type Quarantine = Pick<ReadonlySet<string>, "has">;

/** Returns tests that were flaky at the base or in another story, and those that a person listed as known failures. */
export function quarantineOf(flakes: Iterable<KnownFlake>, { story, atBase }: GateRequest): Quarantine {
  const elsewhere = [...flakes].filter(({ stories }) => stories.some((id) => id !== story.id));
  const names = new Set([...atBase.flaky, ...elsewhere.map(({ name }) => name)]);
  const isKnown = (name: string): boolean => atBase.known.some(({ test }) => matchesTest(name, test));
  return { has: (name) => !atBase.targets.includes(name) && (names.has(name) || isKnown(name)) };
}

/**
 * Repeats a failed test run on the same tree. Tests that fail each time are the work's failures; tests that fail
 * sometimes prove nothing. If nothing fails each time, the whole check is inconclusive, unless all of it is
 * quarantined.
 */
export async function classifyFailures(
  first: CheckOutcome,
  request: Pick<GateRequest, "last" | "tree">,
  { reruns, quarantined }: { readonly reruns: number; readonly quarantined: Quarantine },
  again: () => Promise<CheckOutcome>,
): Promise<CheckOutcome> {
  if (reruns === 0 || !isWorthAnotherRun(first, request)) return first;
  for (let run = 1; run <= reruns; run++) {
    const second = await again();
    if (!isConclusive(second.run.result)) return first;
    const both = compareRuns(first, second, quarantined);
    if (both.flaky.length > 0) return both;
  }
  return first;
}

/**
 * Whether repeating a run is useful. Compilers and linters are deterministic, and a test that also failed on another
 * tree is not flaky.
 */
function isWorthAnotherRun({ run, faults }: CheckOutcome, { last, tree }: Pick<GateRequest, "last" | "tree">): boolean {
  const fresh = faults.filter(isBlocking);
  if (run.result !== "fail" || !fresh.some(({ finding }) => finding.category === "test")) return false;
  const seen = new Set(last !== null && last.tree !== tree ? last.findings.map(({ id }) => id) : []);
  return !fresh.every(({ finding }) => seen.has(finding.id));
}

export function compareRuns(first: CheckOutcome, second: CheckOutcome, quarantined: Quarantine): CheckOutcome {
  const [before, after] = [first, second].map(
    ({ faults }) => new Map(faults.filter(isBlocking).map((fault) => [fault.name, fault])),
  ) as [Map<string, CheckFault>, Map<string, CheckFault>];
  const flaky = [
    ...[...before.values()].filter(({ name }) => !after.has(name)),
    ...[...after.values()].filter(({ name }) => !before.has(name)),
  ];
  const steady = first.faults.filter((fault) => !isBlocking(fault) || after.has(fault.name));
  const evidence = [...first.evidence, ...second.evidence];
  if (flaky.length === 0) return first;
  if (steady.some(isBlocking)) return { ...first, faults: steady, flaky, evidence };
  if (flaky.every(({ name }) => quarantined.has(name))) {
    const excused = flaky.map((fault): CheckFault => ({ ...fault, kind: "flaky" }));
    const run = { ...second.run, result: "pass" as const, details: passedWith([...steady, ...excused]).join("; ") };
    return { ...second, run, faults: steady, flaky: excused, evidence };
  }
  return {
    run: {
      ...first.run,
      result: "inconclusive",
      details: `flaky: ${first.run.details}, and ${second.run.result === "pass" ? "none" : "others"} when it ran again on the same tree`,
    },
    faults: steady,
    tests: null,
    flaky,
    evidence,
    named: first.named,
    names: first.names,
  };
}

/** Makes a finding of a flaky test. It requires nothing of the author, and is shown to people. */
export function flakeFinding({ finding }: CheckFault): Finding {
  const { message, detail, id: _, ...rest } = finding;
  return identifyFinding({
    ...rest,
    severity: "info",
    category: "flaky",
    message: `${finding.symbol ?? finding.source} is flaky: it passed and failed on the same code`,
    detail: detail === undefined ? message : `${message}\n${detail}`,
  });
}

/** Adds a note to a fault if its test is known to be flaky. */
export function markFlake(fault: CheckFault, known: ReadonlyMap<string, KnownFlake>): CheckFault {
  const flake = known.get(fault.name);
  if (flake === undefined) return fault;
  const note = `Known to be flaky: it passed and failed on the same code ${flake.times === 1 ? "once" : `${flake.times} times`} before.`;
  const { detail } = fault.finding;
  return { ...fault, finding: { ...fault.finding, detail: detail === undefined ? note : `${note}\n${detail}` } };
}
