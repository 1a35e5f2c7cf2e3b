import { isConclusive } from "../../core/events/error.ts";
import { addUsd } from "../../core/stories/budget.ts";
import type { Escalation } from "../../core/stories/escalation.ts";
import type { Recorded, SentBack } from "../../core/events/event.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type {
  AttemptOutput,
  EscalationContext,
  FailedTask,
  ReworkRecord,
  ReworkTrigger,
  TrackedLocation,
} from "../../core/stories/rework-log.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import { locationText } from "../../core/gates/finding.ts";
import { byText, entries, lookup } from "../../stdx/sorted-map.ts";
import { type DayMetrics, dailyMetrics } from "../board/cost.ts";
import type { GateName, Judgement } from "../../core/gates/gate.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { answersTo } from "../answers/inbox.ts";
import { shortLine } from "../text/words.ts";
import { GATE_REGISTRY } from "../../core/gates/registry.ts";

/** The contents of a trail, before it is written. Computed from the journal alone, so that it can be reproduced. */
export interface Trail {
  readonly reworks: readonly { readonly story: StoryId; readonly records: readonly ReworkRecord[] }[];
  readonly escalations: readonly {
    readonly story: StoryId | null;
    readonly at: number;
    readonly escalation: Escalation;
    /** `null` for a question about the whole run. */
    readonly context: EscalationContext | null;
    readonly answers: ReturnType<typeof answersTo>;
  }[];
  readonly failed: readonly FailedTask[];
  readonly locations: readonly TrackedLocation[];
  readonly days: readonly DayMetrics[];
}

export function trailOf(lines: readonly Recorded[], run: RunState): Trail {
  const byStory = new Map<StoryId, Recorded[]>();
  for (const line of lines) {
    if (line.story === null) continue;
    const known = byStory.get(line.story);
    if (known === undefined) byStory.set(line.story, [line]);
    else known.push(line);
  }
  const states = [...entries(run.stories)].map(([, state]) => state);
  const raised = new Set<string>();
  return {
    reworks: states
      .filter((state) => state.policy !== null)
      .map((state) => ({ story: state.story.id, records: reworkRecords(byStory.get(state.story.id) ?? [], state) })),
    escalations: lines.flatMap((line) => {
      const { event, story, at } = line;
      // A deferred question is raised again under the same name, but it is one question.
      if (event.type !== "escalation.raised" || raised.has(event.escalation.id)) return [];
      raised.add(event.escalation.id);
      const state = story === null ? undefined : lookup(run.stories, story, byText);
      const own = story === null ? [] : (byStory.get(story) ?? []);
      const context = state === undefined ? null : contextOf(state, own.slice(0, own.indexOf(line)));
      const answers = answersTo(event.escalation, story === null ? lines.filter((each) => each.story === null) : own);
      return [{ story, at, escalation: event.escalation, context, answers }];
    }),
    failed: failedTasks(byStory, run),
    locations: locationsOf(run),
    days: dailyMetrics(lines),
  };
}

/** The slice's definition, and the output of the gates that did not pass each earlier attempt. */
function contextOf({ story }: StoryState, before: readonly Recorded[]): EscalationContext {
  let attempt = 0;
  const outputs = before.flatMap(({ event }): AttemptOutput[] => {
    if (event.type === "attempt.started") attempt = event.attempt;
    if (event.type !== "gate.judged" || event.judgement.result === "pass") return [];
    const { gate, result, summary, findings, blocking, evidence } = event.judgement;
    const counted = findings.filter(({ id }) => blocking.length === 0 || blocking.includes(id));
    const output = counted.map((finding) => {
      const place = locationText(finding);
      return [`${place === "" ? "" : `${place}: `}${finding.message}`, finding.detail ?? ""].join("\n").trim();
    });
    return [{ attempt, gate, result, summary, output, evidence }];
  });
  const { title, body, criteria } = story;
  return { title, definition: body, criteria: criteria.map(({ text }) => text), outputs };
}

/**
 * The list of S0.34, in order of time: stories whose gate reached its failure limit (listed at once, whatever a person
 * decides later), and stories that were given up for another reason.
 */
function failedTasks(byStory: ReadonlyMap<StoryId, readonly Recorded[]>, run: RunState): FailedTask[] {
  const failed = [...entries(run.stories)].flatMap(([id, state]) => {
    const lines = byStory.get(id) ?? [];
    const at = lines.findIndex(({ event }) => limitOf(event) !== null);
    const exhausted = lines[at];
    const { ending } = state;
    const given = ending === null || ending.how === "accepted" || ending.how === "dismissed" ? null : ending;
    if (exhausted === undefined && given === null) return [];
    const takenUpBy = exhausted === undefined ? undefined : answeredBy(lines.slice(at));
    const task: FailedTask = {
      taskId: id,
      reason: exhausted === undefined ? reasonFor(given!, lines) : limitOf(exhausted.event)!,
      reviewAttempts: state.gates.review?.failuresEver ?? 0,
      auditAttempts: state.gates.audit?.failuresEver ?? 0,
      ...(takenUpBy === undefined ? {} : { takenUpBy }),
    };
    return [{ task, at: exhausted?.at ?? given!.at, arrival: state.arrival }];
  });
  return failed.sort((a, b) => a.at - b.at || a.arrival - b.arrival).map(({ task }) => task);
}

/** `review_failure_limit`, if the event says that a gate reached its failure limit. */
export function limitOf(event: Recorded["event"]): string | null {
  if (event.type !== "escalation.raised" || event.escalation.reason.type !== "budget") return null;
  const [, gate] = /^failures:(.+)$/.exec(event.escalation.reason.budget) ?? [];
  return gate === undefined ? null : `${gate}_failure_limit`;
}

/** The reason of a failed story. If no person is asked, the story ends at the limit of the gate that failed last. */
function reasonFor(ending: { readonly how: string; readonly reason: string }, lines: readonly Recorded[]): string {
  if (ending.how !== "exhausted") return ending.reason;
  const last = lines.findLast(({ event }) => event.type === "gate.judged" && event.judgement.result === "fail");
  return last?.event.type === "gate.judged" ? `${last.event.judgement.gate}_failure_limit` : ending.reason;
}

function answeredBy(lines: readonly Recorded[]): string | undefined {
  const answer = lines.find(({ event }) => event.type === "person.answered" && event.answer.verb !== "defer");
  return answer?.event.type === "person.answered" ? answer.event.answer.by : undefined;
}

/** The tracking of S3.26, over all stories: the same location may have been reworked for several of them. */
function locationsOf(run: RunState): TrackedLocation[] {
  const places = new Map<string, TrackedLocation>();
  for (const [, state] of entries(run.stories)) {
    for (const [place, { attempts, lastAttemptAt, outcomes, totalCostUsd }] of Object.entries(state.locations)) {
      const [file, symbol] = splitPlace(place);
      const before = places.get(place);
      const cost = state.spent.costUnknown ? null : totalCostUsd;
      places.set(place, {
        file,
        ...(symbol === undefined ? {} : { symbol }),
        attempts: (before?.attempts ?? 0) + attempts,
        lastAttemptAt: Math.max(before?.lastAttemptAt ?? 0, lastAttemptAt),
        outcomes: [...(before?.outcomes ?? []), ...outcomes],
        totalCostUsd:
          before === undefined
            ? cost
            : before.totalCostUsd === null || cost === null
              ? null
              : addUsd(before.totalCostUsd, cost),
      });
    }
  }
  return [...places.values()];
}

function splitPlace(place: string): readonly [file: string, symbol?: string] {
  const at = place.lastIndexOf("#");
  return at === -1 ? [place] : [place.slice(0, at), place.slice(at + 1)];
}

/** Every time that a gate sent a story's work back, and the result, from the story's journal lines. */
function reworkRecords(lines: readonly Recorded[], state: StoryState): ReworkRecord[] {
  const counts = new Map<GateName, number>();
  return lines.flatMap(({ event, at }, index): ReworkRecord[] => {
    // Rework that a person asked for is in the journal; the log of S1.43 is about gates.
    if (event.type !== "work.sent-back" || event.gate === "person") return [];
    const { gate } = event;
    const attempt = (counts.get(gate) ?? 0) + 1;
    counts.set(gate, attempt);
    const judgement = lastJudgement(lines.slice(0, index), gate);
    const trigger: ReworkTrigger =
      judgement === null ? { type: "reasons", reasons: [event.route.reason] } : triggerOf(judgement);
    return [
      {
        gate,
        attempt,
        at,
        trigger,
        actionTaken: actionOf(event, trigger),
        outcome: outcomeOf(lines.slice(index + 1), gate, state),
      },
    ];
  });
}

function lastJudgement(lines: readonly Recorded[], gate: GateName): Judgement | null {
  const last = lines.findLast(({ event }) => event.type === "gate.judged" && event.judgement.gate === gate);
  return last?.event.type === "gate.judged" ? last.event.judgement : null;
}

/** What the gate reported, in the form of S1.45. */
function triggerOf(judgement: Judgement): ReworkTrigger {
  const { gate, summary } = judgement;
  const findings = judgement.findings.filter(
    ({ id }) => judgement.blocking.length === 0 || judgement.blocking.includes(id),
  );
  switch (GATE_REGISTRY[gate].reports) {
    case "findings": {
      const stage = judgement.stages?.find(({ result }) => result !== "pass")?.stage ?? findings[0]?.stage ?? gate;
      return { type: "findings", stage, findings };
    }
    case "criteria": {
      const failed = (judgement.criteria ?? []).filter(({ status }) => status === "failed");
      return {
        type: "criteria",
        failed: failed.map(({ criterion, evidence }) => ({ criterion, reason: evidence })),
        findings,
      };
    }
    case "checks":
      return { type: "checks", failures: failuresOf(judgement) };
    case "tdd": {
      const concerns = findings.filter(({ category }) => category === "domain").map(({ message }) => message);
      return { type: "tdd", phase: judgement.tddPhase ?? null, output: summary, concerns };
    }
    case "ci":
      return {
        type: "ci",
        classification: judgement.ciClass ?? "test",
        step: findings[0]?.source ?? "",
        output: summary,
      };
    case "survivors": {
      const survivors = findings.map(({ file, line, message, suggestedFix }) => ({
        file: file ?? "",
        line: line ?? 0,
        mutation: mutationIn(message),
        description: message,
        recommendedTest: suggestedFix ?? "",
      }));
      return { type: "survivors", survivors, score: scoreIn(summary) };
    }
    case "reasons":
      return { type: "reasons", reasons: findings.length === 0 ? [summary] : findings.map(({ message }) => message) };
  }
}

/** A mutation in the words of S1.17, if the finding names both sides: "replaced > with >=". */
function mutationIn(message: string): string {
  const [, from, to] = /when (.+) becomes (.+)$/s.exec(message) ?? [];
  if (from === undefined || to === undefined) return message;
  return `replaced ${from.replaceAll("`", "")} with ${to.replaceAll("`", "")}`;
}

function scoreIn(summary: string): string {
  const [, share] = /killed, (\d+(?:\.\d+)?) %/.exec(summary) ?? [];
  return share === undefined ? summary : `${share}%`;
}

function failuresOf({ runs, findings, summary }: Judgement): { check: string; environment: string; details: string }[] {
  const failed = (runs ?? []).filter(({ result }) => result === "fail");
  if (failed.length > 0) return failed.map(({ check, environment, details }) => ({ check, environment, details }));
  if (findings.length === 0) return [{ check: "checks", environment: "", details: summary }];
  return findings.map(({ source, message }) => ({ check: source, environment: "", details: message }));
}

function actionOf({ route }: SentBack, trigger: ReworkTrigger): string {
  const phase = route.phase === "implement" ? (route.tddPhase?.toUpperCase() ?? "") : route.phase;
  return `Routed to ${route.role}${phase === "" ? "" : ` (${phase})`} with ${WITH[trigger.type]}`;
}

const WITH: { readonly [T in ReworkTrigger["type"]]: string } = {
  findings: "findings list",
  survivors: "survivor list",
  tdd: "test output",
  ci: "CI output",
  checks: "failed checks",
  criteria: "failed criteria",
  reasons: "reasons",
};

/** The result of a rework: from the next judgement of the same gate, or without one from the story's state. */
function outcomeOf(later: readonly Recorded[], gate: GateName, state: StoryState): string {
  const at = later.findIndex(
    ({ event }) =>
      event.type === "gate.judged" && event.judgement.gate === gate && isConclusive(event.judgement.result),
  );
  const tried = later.slice(0, at === -1 ? undefined : at).findLast(({ event }) => event.type === "attempt.finished");
  const did = tried?.event.type === "attempt.finished" ? shortLine(tried.event.summary, 200).replace(/\.$/, "") : "";
  const judged = later[at]?.event;
  if (judged?.type !== "gate.judged")
    return state.ending === null ? "In progress" : `Not judged again -- the story is ${state.ending.how}`;
  const { result, summary } = judged.judgement;
  if (result === "pass") return `Fixed -- ${did === "" ? "" : `${did}, `}re-${gate} passed`;
  return `Not fixed -- ${did === "" ? "" : `${did}, `}re-${gate} failed: ${shortLine(summary, 200)}`;
}
