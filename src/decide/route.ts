import { matchesAnyGlob } from "../stdx/glob.ts";
import type { Finding } from "../core/gates/finding.ts";
import { type CiClass, type Judgement, isReviewed } from "../core/gates/gate.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";
import type { RoleName } from "../core/events/ids.ts";
import type { Phase, TddPhase } from "../core/stories/story.ts";
import type { Policy, Specialist } from "../core/events/policy.ts";
import type { Route } from "../core/stories/scope.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { languageOf } from "../core/stories/language.ts";

/** Chooses the phase and the role that fix this failure. */
export function routeFailure(state: StoryState, policy: Policy, judgement: Judgement): Route {
  if (ciClassOf(judgement) === "configuration")
    return { phase: "implement", role: policy.roles.ciIntegration, reason: "the CI's own configuration is at fault" };
  const { phase, reason } = phaseFor(state, policy, judgement);
  const files = filesAtFault(state, judgement);
  const specialist = policy.specialists.find((each) => fits(each, files, judgement.findings));
  const role = specialist?.role ?? state.story.role ?? policy.roles.phase[phase];
  const tddPhase = tddPhaseFor(policy, phase, judgement);
  return {
    phase,
    role,
    ...(tddPhase === null ? {} : { tddPhase }),
    reason:
      specialist === undefined ? reason : `${reason}; ${role} is the specialist for ${files[0] ?? "this category"}`,
  };
}

/** Routes work that a person sends back: to the phase that they name, and to that phase's role. */
export function routeForPerson(state: StoryState, policy: Policy, phase: Phase): Route {
  return { phase, role: state.story.role ?? policy.roles.phase[phase], reason: "a person sent it back" };
}

/**
 * Returns the role that replaces a missing one: its configured fallback, or the fallback's fallback if that is missing
 * too. `null` if none is left.
 */
export function standIn(policy: Policy, role: RoleName, missing: readonly RoleName[]): RoleName | null {
  const tried = new Set<RoleName>();
  let now: RoleName | undefined = role;
  while (now !== undefined && missing.includes(now)) {
    if (tried.has(now)) return null;
    tried.add(now);
    now = Object.hasOwn(policy.roles.fallback, now) ? policy.roles.fallback[now] : undefined;
  }
  return now ?? null;
}

/** The words of S4.56 that tell a finding's phase. They are matched as parts of the category, in this order. */
const PHASE_WORDS: readonly (readonly [Phase, readonly string[]])[] = [
  ["research", ["research", "requirement", "understanding"]],
  ["plan", ["plan", "architecture", "design", "approach", "scope"]],
];

function phaseFor(state: StoryState, policy: Policy, judgement: Judgement): { phase: Phase; reason: string } {
  const phases = policy.phases.map((plan) => plan.phase);
  // Only a review can find fault with an earlier phase; a failing test is about the code.
  if (!isReviewed(judgement.gate)) return { phase: state.phase, reason: gateReason(judgement) };
  const blocking = judgement.findings.filter((finding) => judgement.blocking.includes(finding.id));
  for (const [phase, words] of PHASE_WORDS) {
    const isReachable = phases.includes(phase) && phases.indexOf(phase) <= phases.indexOf(state.phase);
    const named = blocking.find((finding) => words.some((word) => finding.category.toLowerCase().includes(word)));
    if (isReachable && named !== undefined) return { phase, reason: `the finding is about ${named.category}` };
  }
  const blockers = blocking.filter((finding) => finding.severity === "blocker").length;
  if (blockers >= 2 && state.phase === "implement" && phases.includes("plan"))
    return { phase: "plan", reason: `${blockers} blockers: the plan is in doubt` };
  return { phase: state.phase, reason: gateReason(judgement) };
}

function gateReason(judgement: Judgement): string {
  const ciClass = ciClassOf(judgement);
  return ciClass === undefined ? `the ${judgement.gate} gate failed` : `the CI run failed by ${ciClass}`;
}

const ciClassOf = ({ gate, ciClass }: Judgement): CiClass | undefined =>
  GATE_REGISTRY[gate].classifiesRuns ? ciClass : undefined;

/**
 * Returns where the TDD pair resumes: the phase at fault; for surviving planted faults, at the missing test; otherwise
 * at the code.
 */
function tddPhaseFor(policy: Policy, phase: Phase, judgement: Judgement): TddPhase | null {
  const isPaired = policy.phases.some((plan) => plan.gates.some((gate) => GATE_REGISTRY[gate].hasTddPhases));
  if (!isPaired || phase !== "implement") return null;
  return judgement.tddPhase ?? GATE_REGISTRY[judgement.gate].resumesAt;
}

/** Returns the files of the cause, if it was found, or else the files of the findings. */
function filesAtFault(state: StoryState, judgement: Judgement): string[] {
  const suspects = state.failing?.blame?.suspects.map((suspect) => suspect.file) ?? [];
  if (suspects.length > 0) return suspects;
  return judgement.findings.flatMap((finding) => (finding.file === undefined ? [] : [finding.file]));
}

function fits(specialist: Specialist, files: readonly string[], findings: readonly Finding[]): boolean {
  const { languages, paths, categories } = specialist;
  const first = files[0];
  if (languages !== undefined && (first === undefined || !languages.includes(languageOf(first)))) return false;
  if (paths !== undefined && (first === undefined || !matchesAnyGlob(first, paths))) return false;
  if (categories !== undefined && !findings.some((finding) => categories.includes(finding.category))) return false;
  return languages !== undefined || paths !== undefined || categories !== undefined;
}
