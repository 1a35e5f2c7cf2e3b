import type { Brief, BriefEvidence, ReportWay, Survivor } from "../domain/brief.ts";
import type { SendBack } from "../domain/command.ts";
import type { Finding } from "../domain/finding.ts";
import type { Judgement } from "../domain/gate.ts";
import { toPriorityScale, worse } from "../domain/severity.ts";
import type { StoryState } from "../domain/story-state.ts";
import { gateState } from "./charge.ts";
import { blamedPlaces } from "./locations.ts";

/** What the state does not hold and the engine brings: texts, logs, and the commands that will judge. */
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

/** Everything the next attempt needs to know, from the state and what the engine brings. */
export function composeBrief(state: StoryState, command: SendBack, material: BriefMaterial): Brief {
  const judgement = command.gate === "person" ? null : gateState(state, command.gate).last;
  const [required, information] = judgement === null ? [state.requested?.findings ?? [], []] : sorted(judgement);
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
    earlier: earlierAttempts(state),
    context: judgement?.context ?? [],
    guidance: state.guidance,
    scope: command.scope,
    judgedBy: material.judgedBy,
    report: material.report,
    spellOutFormat: state.counters.lastFailure?.type === "unclear",
  };
}

/** S3 counts by place: this is the next rework of the one that is blamed, of several the one reworked most. */
function locationAttempt(state: StoryState): { locationAttempt?: number } {
  const places = state.failing?.blame ? blamedPlaces(state.failing.blame) : [];
  if (places.length === 0) return {};
  return {
    locationAttempt:
      1 +
      Math.max(
        ...places.map((place) => (Object.hasOwn(state.locations, place) ? state.locations[place]!.attempts : 0)),
      ),
  };
}

/** What must be fixed and what is only said; in each the gravest first. */
function sorted(judgement: Judgement): [Finding[], Finding[]] {
  const findings = [...judgement.findings].sort((a, b) => worse(a.severity, b.severity));
  const blocking = new Set(judgement.blocking);
  return [
    findings.filter((finding) => blocking.has(finding.id)),
    findings.filter((finding) => !blocking.has(finding.id)),
  ];
}

/** The attempt that has just failed is what the brief is about; the ones before it are what not to repeat. */
function earlierAttempts(state: StoryState): Brief["earlier"] {
  return state.attempts
    .slice(0, -1)
    .filter((attempt) => attempt.failed !== "")
    .map(({ attempt, summary, failed }) => ({ attempt, tried: summary, failed }));
}
