import fc from "fast-check";
import { IDENTITIES } from "../../src/core/events/authority.ts";
import { type BudgetName, SPENT_BUDGETS } from "../../src/core/stories/budget.ts";
import { BLAME_VERDICTS, type Blame } from "../../src/core/blame/blame.ts";
import type { AttemptOutcome } from "../../src/core/stories/attempt.ts";
import {
  ANSWER_VERBS,
  ESCALATION_KINDS,
  type Escalation,
  type EscalationReason,
} from "../../src/core/stories/escalation.ts";
import type { Answer } from "../../src/core/events/event.ts";
import { type Finding, SEVERITIES, TRIED_FINDING_STATUSES } from "../../src/core/gates/finding.ts";
import { CONTESTED_WHY } from "../../src/core/gates/contested-test.ts";
import { NAME_LEVELS } from "../../src/core/gates/test-names.ts";
import { CI_CLASSES, GATES, type Judgement } from "../../src/core/gates/gate.ts";
import {
  type AgentSession,
  escalationId,
  evidenceId,
  fingerprint,
  roleName,
  storyId,
  treeId,
} from "../../src/core/events/ids.ts";
import { PHASES, STORY_FOLDERS, type Story, TDD_PHASES } from "../../src/core/stories/story.ts";
import { AUTONOMIES, type GateRules, PRESETS, type Policy } from "../../src/core/events/policy.ts";
import { RESULTS } from "../../src/core/events/error.ts";
import { type Route, type Scope, TEST_POLICIES } from "../../src/core/stories/scope.ts";
import { INCOMPLETE_CATEGORIES } from "../../src/core/stories/reading.ts";
import { STALLS } from "../../src/core/stories/stop-rules.ts";

/** The nouns that events are made of, made at random: every field that may be missing is there or not. */
const ODD_TEXTS = ["", " ", "__proto__", "constructor", "\u2028\u0000", "\ud800", '"}{"', "𝒳 é ‮"] as const;

export const text = fc.oneof({ weight: 4, arbitrary: fc.string() }, fc.constantFrom(...ODD_TEXTS));
export const texts = list(text);
export const count = fc.oneof(fc.nat(), fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER));
/** JSON has no negative zero, so a document never holds one. */
export const amount = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map(Math.abs);
const confidence = fc.double({ min: 0, max: 1, noNaN: true }).map(Math.abs);
const someText = fc.string({ minLength: 1 });
export const name = text.filter((words) => /\S/.test(words));
export const storyName = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/).map(storyId);
export const role = someText.map(roleName);
export const tree = someText.map(treeId);
export const evidence = someText.map(evidenceId);
export const findingId = someText.map(fingerprint);
export const gate = fc.constantFrom(...GATES);
export const phase = fc.constantFrom(...PHASES);
export const tddPhase = fc.constantFrom(...TDD_PHASES);
const result = fc.constantFrom(...RESULTS);
const yesNo = fc.boolean();
const budgetNames: BudgetName[] = [
  "iterations",
  "location",
  "cost",
  "tokens",
  "time",
  "run-cost",
  "run-tokens",
  "run-time",
  "run-actions",
];
export const budgetName = fc.constantFrom<BudgetName>(
  ...budgetNames,
  ...GATES.map((each) => `failures:${each}` as const),
);

export function list<T>(of: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.array(of, { maxLength: 3 });
}

type Parts<T> = { [K in keyof T]: fc.Arbitrary<T[K]> };

/** An object with all of the first, and any of the second. */
export function recordOf<const T extends object, O extends object = object>(
  all: Parts<T>,
  any?: Parts<O>,
): fc.Arbitrary<T & Partial<O>> {
  const requiredKeys = Object.keys(all) as never[];
  return fc.record({ ...all, ...any }, { requiredKeys, noNullPrototype: true }) as unknown as fc.Arbitrary<
    T & Partial<O>
  >;
}

export function is<const Type extends string>(type: Type): { type: fc.Arbitrary<Type> } {
  return { type: fc.constant(type) };
}

function byName<Name extends string, T>(names: readonly Name[], of: fc.Arbitrary<T>): fc.Arbitrary<{ [N in Name]: T }> {
  return recordOf<{ [N in Name]: T }>(Object.fromEntries(names.map((each) => [each, of])) as never);
}

const finding: fc.Arbitrary<Finding> = recordOf(
  { id: findingId, severity: fc.constantFrom(...SEVERITIES), category: text, message: text, source: text },
  { detail: text, file: text, line: count, symbol: text, suggestedFix: text, criterion: text, stage: text },
);

export const blame: fc.Arbitrary<Blame> = recordOf(
  {
    verdict: fc.constantFrom(...BLAME_VERDICTS),
    basis: fc.constantFrom("proven", "ranked"),
    confidence,
    suspects: list(
      recordOf(
        { file: text, line: count, change: text, confidence, reasons: texts },
        { endLine: count, symbol: text, commit: text, story: text, attempt: count, role: text, phase: text },
      ),
    ),
    explanation: text,
    testRuns: count,
  },
  { together: yesNo },
);

const pair = fc.tuple(text, text);

export const session: fc.Arbitrary<AgentSession> = recordOf(
  { agent: text, id: text },
  { host: text, totals: recordOf({ tokens: count }, { costUsd: amount, input: count, cached: count }) },
);

const roleKey = fc.constantFrom(roleName("critic"), roleName("auditor"));
export const rolesAsked = fc.dictionary(roleKey, count, { maxKeys: 3, noNullPrototype: true });

export const judgement: fc.Arbitrary<Judgement> = recordOf(
  {
    gate,
    result,
    tree,
    findings: list(finding),
    blocking: list(findingId),
    summary: text,
    evidence: list(evidence),
    durationMs: amount,
  },
  {
    failure: findingId,
    stages: list(recordOf({ stage: text, result, reviewer: role }, { summary: text })),
    runs: list(
      recordOf(
        { check: text, command: text, environment: text, result, exitCode: fc.option(fc.integer()), details: text },
        { names: fc.constantFrom(...NAME_LEVELS) },
      ),
    ),
    criteria: list(
      recordOf({ criterion: text, status: fc.constantFrom("verified", "failed", "unknown"), evidence: text }),
    ),
    tests: recordOf({ total: count, passed: count, failed: count, skipped: count }),
    coverage: recordOf({ lines: amount, branches: fc.option(amount) }),
    most: recordOf({}, { tests: count, lines: amount, branches: amount }),
    flaky: texts,
    notes: texts,
    contested: list(recordOf({ test: text, why: fc.constantFrom(...CONTESTED_WHY) }, { file: text })),
    hidden: recordOf({ failed: count, report: evidence }),
    ciClass: fc.constantFrom(...CI_CLASSES),
    tddPhase,
    conflicts: list(recordOf({ file: text, line: count, between: pair, says: pair, winner: fc.option(text) })),
    requiredFixes: texts,
    context: texts,
    quality: fc.dictionary(fc.constantFrom("Style", "Tests"), text, { noNullPrototype: true }),
    disagreement: text,
    isBestEffort: fc.boolean(),
    retryAt: amount,
    asked: rolesAsked,
    sessions: fc.dictionary(roleKey, session, { maxKeys: 3, noNullPrototype: true }),
    costUsd: amount,
    tokens: count,
  },
);

export const attemptOutcome: fc.Arbitrary<AttemptOutcome> = fc.oneof(
  recordOf(is("ready")),
  recordOf(
    {
      ...is("incomplete"),
      category: fc.constantFrom(...INCOMPLETE_CATEGORIES),
      blocker: text,
      attempted: texts,
      needed: text,
    },
    { waitsFor: text },
  ),
  recordOf({ ...is("blocked"), issue: text }),
  recordOf({ ...is("unclear"), detail: text }),
  recordOf({ ...is("crashed"), detail: text }),
  recordOf({ ...is("timed-out"), afterMs: amount }),
  recordOf({ ...is("rate-limited"), retryAt: amount }),
  recordOf({ ...is("refused"), detail: text }),
  recordOf({ ...is("unusable"), detail: text, fix: text }),
  recordOf({ ...is("missing"), detail: text }),
  recordOf({ ...is("stopped"), by: name }),
  recordOf({ ...is("cut-short"), budget: fc.constantFrom(...SPENT_BUDGETS) }),
);

const escalationReason: fc.Arbitrary<EscalationReason> = fc.oneof(
  recordOf({ ...is("budget"), budget: budgetName, used: amount, limit: amount }),
  recordOf({ ...is("stall"), stall: fc.constantFrom(...STALLS), detail: text }),
  recordOf({ ...is("scope-too-broad"), files: texts }),
  recordOf({ ...is("non-deterministic"), detail: text }),
  recordOf({ ...is("gate-error"), errors: count, detail: text }),
  recordOf({ ...is("gate-inconclusive"), times: count, detail: text }),
  recordOf({ ...is("gate-blocked"), times: count, detail: text }),
  recordOf({ ...is("agent-failure"), outcome: text, times: count, detail: text }),
  recordOf({ ...is("agent-missing"), role: text }),
  recordOf({ ...is("engine-died"), during: text, kind: fc.constantFrom("attempt", "gate", "step"), times: count }),
  recordOf({ ...is("incomplete"), category: text, blocker: text, needed: text }),
  recordOf({ ...is("conflict"), detail: text }),
  recordOf({ ...is("dispute"), finding: text, detail: text }),
  recordOf({ ...is("approval"), of: fc.constantFrom("rework", "retry", "merge") }),
  recordOf({ ...is("infrastructure"), issue: text, tries: count }),
  recordOf({ ...is("failing-base"), tests: texts }),
  recordOf({ ...is("target-not-failing"), targets: texts }),
  recordOf({ ...is("contested-tests"), tests: texts }, { cannotFail: texts }),
);

export const knownFailures = list(recordOf({ test: text, reason: text }, { by: name }));

const verb = fc.constantFrom(...ANSWER_VERBS);

const triedFinding = recordOf(
  { id: text, gate: text, title: text, status: fc.constantFrom(...TRIED_FINDING_STATUSES), seenIn: count },
  { file: text, line: count },
);

export const escalation: fc.Arbitrary<Escalation> = recordOf({
  id: someText.map(escalationId),
  kind: fc.constantFrom(...ESCALATION_KINDS),
  reason: escalationReason,
  gate: fc.option(gate),
  title: text,
  assessment: text,
  recommendation: text,
  question: text,
  options: list(recordOf({ verb, does: text, cost: text })),
  attempts: list(
    recordOf({ attempt: count, tried: text, failed: text }, { findings: list(triedFinding), findingsLeftOut: count }),
  ),
  branch: text,
  commit: text,
});

export const identity = fc.constantFrom(...IDENTITIES);

export const answer: fc.Arbitrary<Answer> = recordOf(
  { verb, by: name, message: text, escalation: fc.option(someText.map(escalationId)) },
  {
    identity,
    gate,
    findings: list(findingId),
    phase,
    budget: budgetName,
    limit: amount,
    tests: texts,
    comments: list(recordOf({ id: text, finding })),
  },
).map((said) => (/\S/.test(said.message) ? said : { ...said, message: "because" }));

export const route: fc.Arbitrary<Route> = recordOf({ phase, role, reason: text }, { tddPhase });

export const scope: fc.Arbitrary<Scope> = recordOf(
  {
    allow: texts,
    deny: texts,
    tests: fc.constantFrom(...TEST_POLICIES),
    exceptions: fc.constantFrom("with-rationale", "never"),
    reason: text,
  },
  { restore: texts },
);

export const story: fc.Arbitrary<Story> = recordOf(
  {
    id: storyName,
    title: text,
    priority: fc.integer(),
    kind: text,
    labels: texts,
    dependsOn: list(storyName),
    criteria: list(recordOf({ id: text, text })),
    shelf: fc.constantFrom(...STORY_FOLDERS),
    body: text,
    completed: list(phase),
  },
  { maxReworks: count, role, target: texts, tests: texts, oracle: fc.oneof(fc.constant(true as const), role) },
);

const spendLimits = recordOf({ costUsd: fc.option(amount), tokens: fc.option(count), timeMs: fc.option(amount) });
const rolesByName = fc.dictionary(
  text.filter((key) => key !== "__proto__"),
  role,
  { maxKeys: 3, noNullPrototype: true },
);

const gateRules: fc.Arbitrary<GateRules> = recordOf({
  failOn: recordOf({}, Object.fromEntries(SEVERITIES.map((severity) => [severity, count]))),
  everyFinding: yesNo,
  affectedBy: texts,
  unaffectedBy: texts,
  stages: texts,
  stageOrder: fc.constantFrom("in-order", "side-by-side"),
  blame: yesNo,
  onUnexplained: fc.constantFrom("escalate", "send-back"),
});

const limits: fc.Arbitrary<Policy["limits"]> = recordOf({
  failures: byName(GATES, fc.option(count)),
  iterations: count,
  perLocation: count,
  errors: count,
  inconclusives: count,
  blocked: count,
  agentFailures: count,
  timeouts: count,
  rateLimits: count,
  refusals: count,
  dependencyWaits: count,
  clarifications: count,
  ciRetries: count,
  remediations: count,
  transientRetries: count,
  backoffMs: amount,
  timeoutMs: byName(["developer", "critic", "auditor", "remediation"], amount),
  story: spendLimits,
  run: recordOf(
    { costUsd: fc.option(amount), tokens: fc.option(count), timeMs: fc.option(amount) },
    { actions: fc.option(count) },
  ),
});

export const policy: fc.Arbitrary<Policy> = recordOf(
  {
    preset: fc.constantFrom(...PRESETS),
    autonomy: fc.constantFrom(...AUTONOMIES),
    phases: list(recordOf({ phase, gates: list(gate) })),
    limits,
    stall: recordOf({
      sameFailure: count,
      unchanged: count,
      plateau: count,
      oscillation: yesNo,
      cascade: yesNo,
      grace: count,
    }),
    gates: byName(GATES, gateRules),
    roles: recordOf(
      {
        phase: byName(PHASES, role),
        stage: rolesByName,
        critic: role,
        auditor: role,
        remediation: role,
        healthCheck: role,
        adjudicator: role,
        ciIntegration: role,
        fallback: rolesByName,
      },
      {
        reinforcement: list(
          recordOf({ role }, { stronger: recordOf({ model: text, after: count }), freshAfter: count }),
        ),
      },
    ),
    specialists: list(recordOf({ role }, { languages: texts, paths: texts, categories: texts })),
    concurrency: recordOf({
      developers: count,
      critics: count,
      auditors: count,
      checks: count,
      stories: fc.option(count),
    }),
    onExhausted: fc.constantFrom("manual", "error", "skip"),
    circuitBreaker: yesNo,
    deliver: fc.constantFrom("branch", "merge", "pull-request"),
    merge: fc.constantFrom("manual", "auto"),
    scope: recordOf({
      exceptions: fc.constantFrom("with-rationale", "never"),
      outside: fc.constantFrom("send-back", "revert"),
      testPaths: texts,
      typePaths: texts,
    }),
  },
  { knownFailures, requireTest: yesNo },
);
