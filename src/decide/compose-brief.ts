import type { Brief, BriefEvidence, ReportWay, Survivor } from "../core/stories/brief.ts";
import type { SendBack } from "../core/stories/command.ts";
import { type Finding, toPriorityScale, worse } from "../core/gates/finding.ts";
import { GATES, type Judgement } from "../core/gates/gate.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { gateState } from "./charge.ts";
import { blamedLocations } from "./locations.ts";
import { openFindings, triedFindings } from "./tried-findings.ts";

/** Inputs of a brief that are not in the state: texts, logs, and the commands that will judge the work. */
export interface BriefMaterial {
  readonly rolePrompt: string;
  readonly evidence: readonly BriefEvidence[];
  readonly judgedBy: readonly string[];
  readonly filesModified: readonly string[];
  readonly survivors: readonly Survivor[];
  readonly mutationScore: string;
  readonly ci: { readonly step: string; readonly runId: string } | null;
  readonly report: ReportWay;
}

/** Composes everything that the next attempt needs, from the state and the material. */
export function composeBrief(state: StoryState, command: SendBack, material: BriefMaterial): Brief {
  const judgement = command.gate === "person" ? null : gateState(state, command.gate).last;
  const [required, information] =
    judgement === null ? [state.requested?.findings ?? [], []] : partitionFindings(judgement);
  return {
    story: { id: state.story.id, title: state.story.title, goal: state.story.body },
    gate: command.gate,
    variant: command.variant,
    attempt: state.attempts.length + 1,
    failure: command.failure,
    failureLimit: command.failureLimit ?? state.policy?.limits.iterations ?? command.failure + 1,
    ...locationAttempt(state),
    route: command.route,
    rolePrompt: material.rolePrompt,
    summary: judgement?.summary ?? state.requested?.message ?? "",
    evidence: material.evidence,
    blame: state.failing?.blame ?? null,
    required,
    stillOpen: stillOpen(state, command, required),
    information,
    requiredFixes: judgement?.requiredFixes ?? [],
    priority: toPriorityScale(required[0]?.severity ?? "major"),
    stages: judgement?.stages ?? [],
    runs: judgement?.runs ?? [],
    criteria: judgement?.criteria ?? [],
    survivors: material.survivors,
    mutationScore: material.mutationScore,
    ci: material.ci === null || judgement?.ciClass === undefined ? null : { class: judgement.ciClass, ...material.ci },
    conflicts: judgement?.conflicts ?? [],
    filesModified: material.filesModified,
    earlier: earlierAttempts(state, required),
    context: judgement?.context ?? [],
    guidance: state.guidance,
    scope: command.scope,
    judgedBy: material.judgedBy,
    report: material.report,
    spellOutFormat: state.counters.lastFailure?.type === "unclear",
  };
}

/**
 * Returns how often the blamed location will have been reworked, this rework included (S3.11). Of several locations,
 * the one with the most reworks counts.
 */
function locationAttempt(state: StoryState): { locationAttempt?: number } {
  const places = state.failing?.blame ? blamedLocations(state.failing.blame) : [];
  if (places.length === 0) return {};
  return {
    locationAttempt:
      1 +
      Math.max(
        ...places.map((place) => (Object.hasOwn(state.locations, place) ? state.locations[place]!.attempts : 0)),
      ),
  };
}

/** Splits findings into those that must be fixed and those for information, each with the worst first. */
function partitionFindings(judgement: Judgement): [Finding[], Finding[]] {
  const findings = [...judgement.findings].sort((a, b) => worse(a.severity, b.severity));
  const blocking = new Set(judgement.blocking);
  return [
    findings.filter((finding) => blocking.has(finding.id)),
    findings.filter((finding) => !blocking.has(finding.id)),
  ];
}

/** Returns the rejected attempts. For the newest one, findings that the brief itself lists are left out. */
function earlierAttempts(state: StoryState, required: readonly Finding[]): Brief["earlier"] {
  const inBrief = new Set<string>(required.map(({ id }) => id));
  const last = state.attempts.length - 1;
  return state.attempts.flatMap((attempt, at) => {
    if (attempt.failed === "") return [];
    const all = triedFindings(state, attempt);
    const findings = at === last ? all.filter(({ id, status }) => status !== "open" || !inBrief.has(id)) : all;
    if (at === last && findings.length === 0) return [];
    const leftOut = attempt.findingsLeftOut;
    return [
      {
        attempt: attempt.attempt,
        tried: attempt.summary,
        failed: attempt.failed,
        ...(findings.length === 0 ? {} : { findings }),
        ...(leftOut === undefined ? {} : { findingsLeftOut: leftOut }),
      },
    ];
  });
}

/**
 * Returns blocking findings of other failed gates. Such a gate does not run again until the current gate passes, so
 * nothing else in the brief would mention them.
 */
function stillOpen(state: StoryState, { gate: now }: SendBack, required: readonly Finding[]): Finding[] {
  const inBrief = new Set<string>(required.map(({ id }) => id));
  const open = new Set(openFindings(state).map(({ gate, id }) => `${gate} ${id}`));
  return GATES.flatMap((gate) => {
    const { last } = gateState(state, gate);
    if (gate === now || last?.result !== "fail") return [];
    const blocking = new Set(last.blocking);
    return last.findings.filter(({ id }) => blocking.delete(id) && !inBrief.has(id) && open.has(`${gate} ${id}`));
  }).sort((a, b) => worse(a.severity, b.severity));
}
