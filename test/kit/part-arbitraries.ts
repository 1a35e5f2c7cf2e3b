import fc from "fast-check";
import { type BudgetName, SPENT_BUDGETS } from "../../src/core/stories/budget.ts";
import { BLAME_VERDICTS, type Blame } from "../../src/core/blame/blame.ts";
import type { AttemptOutcome } from "../../src/core/stories/attempt.ts";
import {
  ANSWER_VERBS,
  ESCALATION_KINDS,
  type Escalation,
  type EscalationReason,
  STALLS,
} from "../../src/core/stories/escalation.ts";
import type { Answer } from "../../src/core/events/event.ts";
import type { Finding } from "../../src/core/gates/finding.ts";
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
import { PHASES, SHELVES, type Story, TDD_PHASES } from "../../src/core/stories/story.ts";
import { AUTONOMIES, type GateRules, PRESETS, type Policy } from "../../src/core/events/policy.ts";
import { RESULTS } from "../../src/core/events/error.ts";
import { type Route, type Scope, TEST_POLICIES } from "../../src/core/stories/scope.ts";
import { SEVERITIES } from "../../src/core/gates/severity.ts";
import { INCOMPLETE_CATEGORIES } from "../../src/core/stories/signal.ts";
import { TRIED_FINDING_STATUSES } from "../../src/core/gates/tried-finding.ts";

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
export function made<const T extends object, O extends object = object>(
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
  return made<{ [N in Name]: T }>(Object.fromEntries(names.map((each) => [each, of])) as never);
}

const finding: fc.Arbitrary<Finding> = made(
  { id: findingId, severity: fc.constantFrom(...SEVERITIES), category: text, message: text, source: text },
  { detail: text, file: text, line: count, symbol: text, suggestedFix: text, criterion: text, stage: text },
);

export const blame: fc.Arbitrary<Blame> = made(
  {
    verdict: fc.constantFrom(...BLAME_VERDICTS),
    basis: fc.constantFrom("proven", "ranked"),
    confidence,
    suspects: list(
      made(
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

export const session: fc.Arbitrary<AgentSession> = made(
  { agent: text, id: text },
  { host: text, totals: made({ tokens: count }, { costUsd: amount, input: count, cached: count }) },
);

const roleKey = fc.constantFrom(roleName("critic"), roleName("auditor"));
export const rolesAsked = fc.dictionary(roleKey, count, { maxKeys: 3, noNullPrototype: true });

export const judgement: fc.Arbitrary<Judgement> = made(
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
    stages: list(made({ stage: text, result, reviewer: role }, { summary: text })),
    runs: list(
      made(
        { check: text, command: text, environment: text, result, exitCode: fc.option(fc.integer()), details: text },
        { names: fc.constantFrom(...NAME_LEVELS) },
      ),
    ),
    criteria: list(made({ criterion: text, status: fc.constantFrom("verified", "failed", "unknown"), evidence: text })),
    tests: made({ total: count, passed: count, failed: count, skipped: count }),
    coverage: made({ lines: amount, branches: fc.option(amount) }),
    most: made({}, { tests: count, lines: amount, branches: amount }),
    flaky: texts,
    notes: texts,
    contested: list(made({ test: text, why: fc.constantFrom(...CONTESTED_WHY) }, { file: text })),
    ciClass: fc.constantFrom(...CI_CLASSES),
    tddPhase,
    conflicts: list(made({ file: text, line: count, between: pair, says: pair, winner: fc.option(text) })),
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
  made(is("ready")),
  made(
    {
      ...is("incomplete"),
      category: fc.constantFrom(...INCOMPLETE_CATEGORIES),
      blocker: text,
      attempted: texts,
      needed: text,
    },
    { waitsFor: text },
  ),
  made({ ...is("blocked"), issue: text }),
  made({ ...is("unclear"), detail: text }),
  made({ ...is("crashed"), detail: text }),
  made({ ...is("timed-out"), afterMs: amount }),
  made({ ...is("rate-limited"), retryAt: amount }),
  made({ ...is("refused"), detail: text }),
  made({ ...is("unusable"), detail: text, fix: text }),
  made({ ...is("missing"), detail: text }),
  made({ ...is("stopped"), by: name }),
  made({ ...is("cut-short"), budget: fc.constantFrom(...SPENT_BUDGETS) }),
);

const escalationReason: fc.Arbitrary<EscalationReason> = fc.oneof(
  made({ ...is("budget"), budget: budgetName, used: amount, limit: amount }),
  made({ ...is("stall"), stall: fc.constantFrom(...STALLS), detail: text }),
  made({ ...is("scope-too-broad"), files: texts }),
  made({ ...is("non-deterministic"), detail: text }),
  made({ ...is("gate-error"), errors: count, detail: text }),
  made({ ...is("gate-inconclusive"), times: count, detail: text }),
  made({ ...is("gate-blocked"), times: count, detail: text }),
  made({ ...is("agent-failure"), outcome: text, times: count, detail: text }),
  made({ ...is("agent-missing"), role: text }),
  made({ ...is("engine-died"), during: text, kind: fc.constantFrom("attempt", "gate", "step"), times: count }),
  made({ ...is("incomplete"), category: text, blocker: text, needed: text }),
  made({ ...is("conflict"), detail: text }),
  made({ ...is("dispute"), finding: text, detail: text }),
  made({ ...is("approval"), of: fc.constantFrom("rework", "retry", "merge") }),
  made({ ...is("infrastructure"), issue: text, tries: count }),
  made({ ...is("failing-base"), tests: texts }),
  made({ ...is("target-not-failing"), targets: texts }),
  made({ ...is("contested-tests"), tests: texts }),
);

export const knownFailures = list(made({ test: text, reason: text }, { by: name }));

const verb = fc.constantFrom(...ANSWER_VERBS);

const triedFinding = made(
  { id: text, gate: text, title: text, status: fc.constantFrom(...TRIED_FINDING_STATUSES), seenIn: count },
  { file: text, line: count },
);

export const escalation: fc.Arbitrary<Escalation> = made({
  id: someText.map(escalationId),
  kind: fc.constantFrom(...ESCALATION_KINDS),
  reason: escalationReason,
  gate: fc.option(gate),
  title: text,
  assessment: text,
  recommendation: text,
  question: text,
  options: list(made({ verb, does: text, cost: text })),
  attempts: list(
    made({ attempt: count, tried: text, failed: text }, { findings: list(triedFinding), findingsLeftOut: count }),
  ),
  branch: text,
  commit: text,
});

export const answer: fc.Arbitrary<Answer> = made(
  { verb, by: name, message: text, escalation: fc.option(someText.map(escalationId)) },
  {
    gate,
    findings: list(findingId),
    phase,
    budget: budgetName,
    limit: amount,
    tests: texts,
    comments: list(made({ id: text, finding })),
  },
).map((said) => (/\S/.test(said.message) ? said : { ...said, message: "because" }));

export const route: fc.Arbitrary<Route> = made({ phase, role, reason: text }, { tddPhase });

export const scope: fc.Arbitrary<Scope> = made(
  {
    allow: texts,
    deny: texts,
    tests: fc.constantFrom(...TEST_POLICIES),
    exceptions: fc.constantFrom("with-rationale", "never"),
    reason: text,
  },
  { restore: texts },
);

export const story: fc.Arbitrary<Story> = made(
  {
    id: storyName,
    title: text,
    priority: fc.integer(),
    kind: text,
    labels: texts,
    dependsOn: list(storyName),
    criteria: list(made({ id: text, text })),
    shelf: fc.constantFrom(...SHELVES),
    body: text,
    completed: list(phase),
  },
  { maxReworks: count, role, target: texts, tests: texts },
);

const spendLimits = made({ costUsd: fc.option(amount), tokens: fc.option(count), timeMs: fc.option(amount) });
const rolesByName = fc.dictionary(
  text.filter((key) => key !== "__proto__"),
  role,
  { maxKeys: 3, noNullPrototype: true },
);

const gateRules: fc.Arbitrary<GateRules> = made({
  failOn: made({}, Object.fromEntries(SEVERITIES.map((severity) => [severity, count]))),
  everyFinding: yesNo,
  affectedBy: texts,
  unaffectedBy: texts,
  stages: texts,
  stageOrder: fc.constantFrom("in-order", "side-by-side"),
  blame: yesNo,
  onUnexplained: fc.constantFrom("escalate", "send-back"),
});

const limits: fc.Arbitrary<Policy["limits"]> = made({
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
  run: spendLimits,
});

export const policy: fc.Arbitrary<Policy> = made(
  {
    preset: fc.constantFrom(...PRESETS),
    autonomy: fc.constantFrom(...AUTONOMIES),
    phases: list(made({ phase, gates: list(gate) })),
    limits,
    stall: made({
      sameFailure: count,
      unchanged: count,
      plateau: count,
      oscillation: yesNo,
      cascade: yesNo,
      grace: count,
    }),
    gates: byName(GATES, gateRules),
    roles: made(
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
        reinforcement: list(made({ role }, { stronger: made({ model: text, after: count }), freshAfter: count })),
      },
    ),
    specialists: list(made({ role }, { languages: texts, paths: texts, categories: texts })),
    concurrency: made({ developers: count, critics: count, auditors: count, checks: count, stories: fc.option(count) }),
    onExhausted: fc.constantFrom("manual", "error", "skip"),
    circuitBreaker: yesNo,
    deliver: fc.constantFrom("branch", "merge", "pull-request"),
    merge: fc.constantFrom("manual", "auto"),
    scope: made({
      exceptions: fc.constantFrom("with-rationale", "never"),
      outside: fc.constantFrom("send-back", "revert"),
      testPaths: texts,
      typePaths: texts,
    }),
  },
  { knownFailures, requireTest: yesNo },
);
