import { presetPolicy } from "../../src/config/presets.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import { identifyFinding } from "../../src/core/gates/finding-identity.ts";
import { fingerprint, storyId, treeId, evidenceId } from "../../src/core/events/ids.ts";
import type { AttemptOutcome } from "../../src/core/stories/attempt.ts";
import type { Blame } from "../../src/core/blame/blame.ts";
import type { Command, StartGate } from "../../src/core/stories/command.ts";
import type { ContestedTest } from "../../src/core/gates/contested-test.ts";
import type { Answer, Event, Recorded } from "../../src/core/events/event.ts";
import type { CiClass, GateName, Judgement, TestIdentities } from "../../src/core/gates/gate.ts";
import type { Result } from "../../src/core/events/error.ts";
import { bareStory, type Story } from "../../src/core/stories/story.ts";
import type { StoryState } from "../../src/core/stories/story-state.ts";

/** A made-up world: it performs any command with any outcome, and keeps nothing but the next tree's number. */
export interface Outcome {
  readonly name: string;
  readonly events: readonly Event[];
}

export function story(id: string, more: Partial<Story> = {}): Story {
  const asked = { criteria: [{ id: "AC1", text: "it works" }], body: "Make it work." };
  return bareStory(storyId(id), `Story ${id}`, { ...asked, ...more });
}

export function recordedEvent(at: number, of: string | null, event: Event): Recorded {
  return { v: 1, at, story: of === null ? null : storyId(of), event };
}

const COST = { costUsd: 0, durationMs: 0 } as const;

export interface JudgementParts {
  readonly blocking?: number;
  readonly failure?: string;
  /** The failing tests, by name. Those that are called `old …` passed at the base. */
  readonly failing?: readonly string[];
  /** Files that did not load, so that nothing is known of their tests. */
  readonly notLoaded?: readonly string[];
  readonly ciClass?: CiClass;
  readonly category?: string;
  readonly more?: Partial<Judgement>;
}

export function judgement(gate: GateName, tree: string, result: Result, parts: JudgementParts = {}): Judgement {
  const count = result === "fail" ? (parts.blocking ?? 1) : 0;
  const findings = Array.from({ length: count }, (_, i) =>
    identifyFinding({
      severity: "critical",
      category: parts.category ?? "logic",
      message: `${parts.failure ?? "broken"} ${i}x`,
      source: gate,
      file: `src/f${i}.ts`,
      line: 1,
    }),
  );
  return {
    gate,
    result,
    tree: treeId(tree),
    findings,
    blocking: findings.map((finding) => finding.id),
    ...(result === "fail" ? { failure: fingerprint(parts.failure ?? "same") } : {}),
    ...(parts.failing === undefined ? {} : { identities: identities(parts.failing, parts.notLoaded) }),
    ...(parts.ciClass === undefined ? {} : { ciClass: parts.ciClass }),
    summary: `${gate} says ${result}`,
    evidence: [evidenceId("e1")],
    ...COST,
    ...parts.more,
  };
}

export function identities(failing: readonly string[], notLoaded: readonly string[] = []): TestIdentities {
  const passedAtBase = notLoaded.length > 0 ? [] : failing.filter((name) => name.startsWith("old "));
  return { failing, unlisted: 0, passing: [], passedAtBase, passedLast: [], ranTests: ["unit"], notLoaded };
}

export function attemptEnd(
  attempt: number,
  outcome: AttemptOutcome,
  tree: string,
  more: {
    changed?: readonly string[];
    productChanged?: boolean;
    costUsd?: number;
    durationMs?: number;
    summary?: string;
  } = {},
): Event {
  return {
    type: "attempt.finished",
    attempt,
    outcome,
    tree: treeId(tree),
    commit: `c-${tree}`,
    changed: more.changed ?? ["src/a.ts"],
    productChanged: more.productChanged ?? true,
    summary: more.summary ?? `attempt ${attempt}`,
    costUsd: more.costUsd ?? 0,
    durationMs: more.durationMs ?? 0,
  };
}

export function attemptStart(command: Extract<Command, { type: "start-attempt" }>): Event {
  const { attempt, phase, role, tddPhase, reworkOf, forecastUsd, stronger, fresh } = command;
  return {
    type: "attempt.started",
    attempt,
    phase,
    role,
    ...(tddPhase === undefined ? {} : { tddPhase }),
    reworkOf,
    brief: reworkOf === null ? null : evidenceId("brief"),
    forecastUsd,
    ...(stronger === undefined ? {} : { model: stronger.model, stronger: { failures: stronger.failures } }),
    ...(fresh === undefined ? {} : { fresh }),
  };
}

export function blameEvent(gate: GateName, verdict: Blame["verdict"], file = "src/a.ts"): Event {
  const suspects =
    verdict === "culprit" || verdict === "multi"
      ? [suspect(file)]
      : verdict === "too-broad"
        ? [suspect("src/a.ts"), suspect("lib/z.ts")]
        : [];
  return {
    type: "blame.found",
    gate,
    blame: { verdict, basis: "ranked", confidence: 0.8, suspects, explanation: `it is ${verdict}`, testRuns: 0 },
    ...COST,
  };
}

function suspect(file: string) {
  return { file, line: 3, change: "changed a condition", confidence: 0.8, reasons: ["a frame lies in the hunk"] };
}

function sentBack(command: Extract<Command, { type: "send-back" }>): Event {
  const { gate, variant, failure, failureLimit, route, scope } = command;
  return { type: "work.sent-back", gate, variant, failure, failureLimit, route, scope, brief: evidenceId("brief") };
}

export function answer(verb: Answer["verb"], more: Partial<Answer> = {}): Event {
  return { type: "person.answered", answer: { verb, by: "Ada", message: "because", escalation: null, ...more } };
}

/** What fails at the base, in the cases in which something does. */
export const FAILING_BASE: readonly string[] = ["test/a.test.ts > adds", "test/b.test.ts > removes"];

function prepared(preExisting: readonly string[]): Event {
  return { type: "story.prepared", tree: treeId("t0"), commit: "c0", preExisting, flaky: [] };
}

/** The first attempt begins while the checks of the base still run. */
const preparedEarly = (): Event => ({
  type: "story.prepared",
  tree: treeId("t0"),
  commit: "c0",
  preExisting: [],
  isBaseOpen: true,
});

/** Every way a command can go. What an exploration leaves out, it leaves out by name. */
export function outcomesOf(command: Command, state: StoryState | null): Outcome[] {
  return [...endsOf(command, state), ...deathsIn(command)];
}

export const ENGINE_DIED = "the engine died";

/** What ran may end the engine that ran it: then only its beginning is in the journal, and the recovery after it. */
function deathsIn(command: Command): Outcome[] {
  const start = startOf(command);
  if (start === null) return [];
  const died: Event = { type: "work.interrupted", detail: ENGINE_DIED, engine: "died" };
  return [{ name: ENGINE_DIED, events: [...start, died] }];
}

/** The first line of a command that runs something; `null` for one that does not. */
function startOf(command: Command): readonly Event[] | null {
  switch (command.type) {
    case "start-story":
      return [{ type: "story.started", by: "engine" }];
    case "judge-base":
      return [{ type: "step.started", step: "base" }];
    case "start-attempt":
      return [attemptStart(command)];
    case "ask-again":
    case "resume-work":
      return [];
    case "start-gate":
      return [{ type: "gate.started", gate: command.gate, tree: command.tree, stages: command.stages }];
    case "find-blame":
      return [{ type: "step.started", step: "blame" }];
    case "fix-lint":
      return [{ type: "step.started", step: "lint-fix" }];
    case "adjudicate":
      return [{ type: "step.started", step: "adjudication" }];
    case "deliver":
      return [{ type: "step.started", step: "delivery" }];
    default:
      return null;
  }
}

function endsOf(command: Command, state: StoryState | null): Outcome[] {
  const one = (name: string, ...events: Event[]): Outcome => ({ name, events });
  switch (command.type) {
    case "start-story": {
      const start: Event = { type: "story.started", by: "engine" };
      return [
        one("prepared", start, prepared([])),
        one("prepared with failures", start, prepared(FAILING_BASE)),
        one("prepared, with the checks of the base still running", start, preparedEarly()),
        ...brokenSteps("prepare", [start]),
      ];
    }
    case "judge-base": {
      const start: Event = { type: "step.started", step: "base" };
      const judged = (preExisting: readonly string[]): Event => ({ type: "base.judged", preExisting, flaky: [] });
      return [
        one("the base is green", start, judged([])),
        one("the base is red", start, judged(FAILING_BASE)),
        ...brokenSteps("base", [start]),
      ];
    }
    case "start-attempt":
      return attemptOutcomes(command, state!);
    case "ask-again": {
      const next = freshTree(state!);
      return [
        one("ready", attemptEnd(command.attempt, { type: "ready" }, next)),
        one("unclear", {
          type: "attempt.unclear",
          attempt: command.attempt,
          detail: "nothing readable",
          durationMs: 0,
          costUsd: 0,
        }),
      ];
    }
    case "resume-work": {
      const { work, story, key } = command;
      const ends = endsOf({ ...work, story, key }, state);
      // What runs has begun already.
      return ends.map(({ name, events }) => one(name, ...events.filter(({ type }) => !type.endsWith(".started"))));
    }
    case "start-gate":
      return [...gateOutcomes(command, state!), ...(command.gate === "merge" ? [updatedBy(state!, "update")] : [])];
    case "adopt-work": {
      const start: Event = { type: "step.started", step: "adopt" };
      const { tree, commit } = state!;
      const next = freshTree(state!);
      const from = { by: command.by, ...(command.branch === undefined ? {} : { branch: command.branch }) };
      return [
        one("adopted", start, { type: "work.adopted", tree: tree!, commit, changed: [], ...from }),
        one("adopted changes", start, {
          type: "work.adopted",
          tree: treeId(next),
          commit: `c-${next}`,
          changed: ["src/a.ts"],
          ...from,
        }),
        ...brokenSteps("adopt", [start]),
      ];
    }
    case "find-blame": {
      const start: Event = { type: "step.started", step: "blame" };
      const verdicts: Blame["verdict"][] = [
        "culprit",
        "multi",
        "unmet",
        "pre-existing",
        "environment",
        "flaky",
        "too-broad",
        "unknown",
      ];
      return [
        ...verdicts.map((verdict) => one(`blame ${verdict}`, start, blameEvent(command.gate, verdict))),
        ...brokenSteps("blame", [start]),
      ];
    }
    case "fix-lint": {
      const tree = freshTree(state!);
      return [
        one(
          "fixed",
          { type: "step.started", step: "lint-fix" },
          { type: "lint.fixed", tree: treeId(tree), commit: `c-${tree}`, changed: ["src/a.ts"] },
        ),
      ];
    }
    case "send-back":
      return [one("sent back", sentBack(command)), ...brokenSteps("brief", [{ type: "step.started", step: "brief" }])];
    case "restore-tree":
      return [one("restored", { type: "tree.restored", tree: command.tree, commit: `c-${command.tree}` })];
    case "grant-grace":
      return [one("granted", { type: "grace.granted", gate: command.gate, failures: command.failures })];
    case "adjudicate":
      return [true, false].map((upheld) =>
        one(upheld ? "upheld" : "overturned", {
          type: "finding.adjudicated",
          finding: command.finding,
          upheld,
          by: command.role,
          reason: "read both",
          ...COST,
        }),
      );
    case "deliver":
      return deliveryOutcomes(command, state!);
    case "accept":
      return [
        one("accepted", {
          type: "story.accepted",
          ...(command.notes === undefined ? {} : { notes: command.notes }),
        }),
        ...(state!.policy?.deliver === "branch" ? [one("branch moved", unverified())] : []),
      ];
    case "fail":
      return [one("failed", { type: "story.failed", how: command.how, reason: command.reason })];
    case "raise-escalation":
      return [one("raised", { type: "escalation.raised", escalation: command.escalation })];
    case "warn-budget":
      return [
        one("warned", { type: "budget.warned", budget: command.budget, used: command.used, limit: command.limit }),
      ];
    case "flag-story":
      return [one("flagged", { type: "story.flagged", usualMs: command.usualMs, takenMs: command.takenMs })];
    case "start-remediation":
      return [
        one(
          "remediated",
          { type: "remediation.started", attempt: command.attempt },
          { type: "remediation.finished", attempt: command.attempt, fixes: ["restarted it"], ...COST },
        ),
      ];
    case "check-health":
      return [true, false].map((healthy) =>
        one(healthy ? "healthy" : "unhealthy", {
          type: "health.checked",
          healthy,
          remaining: healthy ? [] : ["still down"],
          ...COST,
        }),
      );
  }
}

/** All outcomes of a delivery: a target that is quiet, moves or conflicts, and a branch that was moved. */
function deliveryOutcomes(command: Extract<Command, { type: "deliver" }>, state: StoryState): Outcome[] {
  const start: Event = { type: "step.started", step: "delivery" };
  const { how, claimedBy } = command;
  const delivered: Outcome = { name: "delivered", events: [start, { type: "work.delivered", how, where: "there" }] };
  const broken = brokenSteps("delivery", [start]);
  if (claimedBy !== undefined) {
    const refused: Event = { type: "delivery.refused", why: "not-merged", detail: "main does not hold it" };
    return [delivered, { name: "not merged", events: [start, refused] }, ...broken];
  }
  const stray: Outcome = { name: "branch moved", events: [start, unverified()] };
  if (how !== "merge") return [delivered, stray, ...broken];
  const moved: Event = { type: "work.interrupted", detail: "main moved during the merge", cause: "target-moved" };
  const rounds = roundsOf(state, "merge");
  const conflict = judgement("merge", state.tree!, "fail", {
    failure: `conflict${rounds}`,
    category: "merge-conflict",
  });
  return [
    delivered,
    stray,
    { name: "target moved", events: [start, moved] },
    { name: "conflict", events: [start, { type: "gate.judged", judgement: conflict }] },
    updatedBy(state, "delivery"),
    ...broken,
  ];
}

/** What the target has got is in the branch now. A target whose history was replaced ends the same way. */
function updatedBy(state: StoryState, step: "update" | "delivery"): Outcome {
  const tree = freshTree(state);
  return {
    name: "updated",
    events: [
      { type: "step.started", step },
      { type: "branch.updated", tree: treeId(tree), commit: `c-${tree}`, changed: ["src/a.ts"], conflicts: [] },
    ],
  };
}

const unverified = (): Event => ({
  type: "delivery.refused",
  why: "branch-moved",
  detail: "f00 is on the branch, and no gate has passed it",
  commit: "f00",
});

function brokenSteps(step: Extract<Event, { type: "step.failed" }>["step"], start: readonly Event[]): Outcome[] {
  return [false, true].map((infrastructure) => ({
    name: infrastructure ? `${step} blocked` : `${step} broke`,
    events: [...start, { type: "step.failed", step, detail: "it broke", infrastructure }],
  }));
}

function attemptOutcomes(command: Extract<Command, { type: "start-attempt" }>, state: StoryState): Outcome[] {
  const start = attemptStart(command);
  const { attempt } = command;
  const now = state.tree!;
  const end = (
    name: string,
    outcome: AttemptOutcome,
    tree: string = now,
    more: Parameters<typeof attemptEnd>[3] = { changed: [], productChanged: false },
  ): Outcome => ({
    name,
    events: [start, attemptEnd(attempt, outcome, tree, more)],
  });
  const incomplete = (category: Extract<AttemptOutcome, { type: "incomplete" }>["category"]): AttemptOutcome => ({
    type: "incomplete",
    category,
    blocker: "something is in the way",
    attempted: ["this"],
    needed: "that",
  });
  const next = freshTree(state);
  const older = state.trees.find((tree) => tree !== now);
  return [
    end("ready", { type: "ready" }, next, {}),
    end("ready docs", { type: "ready" }, next, { changed: ["README.md"] }),
    end("ready unchanged", { type: "ready" }),
    ...(older === undefined ? [] : [end("ready back", { type: "ready" }, older, {})]),
    end("missing info", incomplete("missing_info")),
    end("out of scope", incomplete("out_of_scope")),
    end("waits for a story", incomplete("blocked_by_dependency")),
    end("no infrastructure", incomplete("infrastructure")),
    end("blocked", { type: "blocked", issue: "the database is down" }),
    end("crashed", { type: "crashed", detail: "exit 1" }),
    end("timed out", { type: "timed-out", afterMs: 1 }),
    end("rate limited", { type: "rate-limited", retryAt: 0 }),
    end("refused", { type: "refused", detail: "no" }),
    end("unusable", { type: "unusable", detail: "no login", fix: "log in" }),
    end("missing", { type: "missing", detail: "not installed" }),
    end("stopped", { type: "stopped", by: "Ada" }),
    {
      name: "unclear",
      events: [start, { type: "attempt.unclear", attempt, detail: "nothing readable", durationMs: 0, costUsd: 0 }],
    },
  ];
}

function gateOutcomes(command: StartGate & { readonly key: string }, state: StoryState): Outcome[] {
  const { gate, tree, stages } = command;
  const start: Event = { type: "gate.started", gate, tree, stages };
  const judged = (name: string, result: Result, parts: JudgementParts = {}): Outcome => ({
    name: `${gate} ${name}`,
    events: [start, { type: "gate.judged", judgement: judgement(gate, tree, result, parts) }],
  });
  const ruledOn = REVIEWS.has(gate) ? contestedIn(state) : [];
  const contested = RUNS_TESTS.has(gate) ? CONTESTED.filter(({ test }) => !isLicensed(state, test)) : [];
  const results = [
    judged("pass", "pass", ruledOn.length === 0 ? {} : { more: { contested: ruledOn } }),
    ...(contested.length === 0 ? [] : [judged("pass contested", "pass", { more: { contested } })]),
    judged("blocked", "blocked"),
    judged("error", "error"),
    judged("inconclusive", "inconclusive"),
  ];
  if (gate === "ci") {
    const classes: CiClass[] = ["test", "lint", "build", "configuration", "infrastructure", "flaky"];
    return [
      ...results,
      ...classes.map((ciClass) =>
        judged(`fail ${ciClass}`, ciClass === "flaky" ? "inconclusive" : "fail", {
          ciClass,
          failure: `ci${roundsOf(state, gate)}`,
        }),
      ),
    ];
  }
  return [
    ...results,
    judged("fail", "fail", {
      failure: `new${roundsOf(state, gate)}`,
      blocking: Math.max(1, 4 - roundsOf(state, gate)),
    }),
    judged("fail the same", "fail", { failure: "same", blocking: 4, ...ran(gate, ["new same"]) }),
    judged("fail worse", "fail", {
      failure: `worse${roundsOf(state, gate)}`,
      blocking: 4,
      ...ran(gate, ["new same", `old ${roundsOf(state, gate)}`]),
    }),
    ...(RUNS_TESTS.has(gate)
      ? [
          judged("fail other tests", "fail", {
            failure: `other${roundsOf(state, gate)}`,
            ...ran(gate, [`new ${roundsOf(state, gate)}`]),
          }),
          judged("does not load", "fail", { failure: "unloaded", ...ran(gate, ["a.test.ts"], ["a.test.ts"]) }),
        ]
      : []),
  ];
}

const RUNS_TESTS: ReadonlySet<GateName> = new Set(["checks", "tdd"]);
const REVIEWS: ReadonlySet<GateName> = new Set(["review", "audit"]);

/** What is contested, in the cases in which something is. */
export const CONTESTED: readonly ContestedTest[] = [
  { test: "test/a.test.ts > adds", why: "fails", file: "test/a.test.ts" },
  { test: "test/b.test.ts > removes", why: "removed" },
];

const isLicensed = ({ licensed = [] }: StoryState, name: string): boolean => licensed.some(({ test }) => test === name);

/** What a reviewer is asked to rule on: what the tests' gates reported of this very tree. */
const contestedIn = ({ gates }: StoryState): readonly ContestedTest[] =>
  [gates.checks, gates.tdd].flatMap((each) => (each?.fresh === true ? (each.last?.contested ?? []) : []));

/** Only gates that run tests know which of them fail. */
const ran = (gate: GateName, failing: readonly string[], notLoaded: readonly string[] = []): Partial<JudgementParts> =>
  RUNS_TESTS.has(gate) ? { failing, notLoaded } : {};

function roundsOf(state: StoryState, gate: GateName): number {
  return state.gates[gate]?.rounds.length ?? 0;
}

/** A tree that was never there before: the number of the story's events has not been there either. */
function freshTree(state: StoryState): string {
  return `t${state.seq}`;
}

/** The preset `story` with reviewers in each phase, as a config may have it. */
export function reviewedPhases(): Policy {
  const policy = presetPolicy("story");
  const phases = policy.phases.map((phase): Policy["phases"][number] =>
    phase.phase === "implement" ? phase : { ...phase, gates: ["integrity", "review"] },
  );
  return { ...policy, phases };
}
