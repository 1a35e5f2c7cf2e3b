import { matchesTest } from "../../core/gates/base-failures.ts";
import type { BudgetName } from "../../core/stories/budget.ts";
import { RemandError } from "../../core/events/error.ts";
import type { AnswerVerb, Escalation } from "../../core/stories/escalation.ts";
import type { Answer } from "../../core/events/event.ts";
import { type Finding, disputable, disputeRefusal } from "../../core/gates/finding.ts";
import { GATES, type GateName } from "../../core/gates/gate.ts";
import type { Fingerprint, StoryId } from "../../core/events/ids.ts";
import type { Phase } from "../../core/stories/story.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { findingText } from "../story/finding-text.ts";
import { byText, lookup } from "../../stdx/sorted-map.ts";
import { TRIAGE_OPTIONS, answerCommand, needsMessage, reopenRefusal } from "../../core/stories/escalation.ts";

/** What an answer is about. */
export interface AnswerSubject {
  readonly story: StoryId | null;
  readonly state: StoryState | null;
  readonly escalation: Escalation | null;
}

/** The answer of a person, before it is validated. */
export interface AnswerInput {
  readonly verb: AnswerVerb;
  readonly by: string;
  readonly message: string;
  readonly gate?: GateName | undefined;
  /** Ids of findings, or prefixes of ids. */
  readonly findings?: readonly string[] | undefined;
  /** Names, files or patterns of tests. */
  readonly tests?: readonly string[] | undefined;
  readonly phase?: Phase | undefined;
  readonly budget?: BudgetName | undefined;
  /** In the budget's own unit. */
  readonly limit?: number | undefined;
}

/** The stories that `about` may mean, so that no others are read: a question's name contains its story's. */
export function storiesMeant(about: string): StoryId[] {
  const asked = /^esc-(.+)-\d+$/.exec(about)?.[1];
  return [about, ...(asked === undefined ? [] : [asked])] as StoryId[];
}

/** Finds the escalation or story that is meant. The name of a story means its open question, if it has one. */
export function answerSubject(
  run: Pick<RunState, "escalation">,
  states: readonly StoryState[],
  about: string,
  verb: AnswerVerb,
): AnswerSubject {
  if (run.escalation?.id === about) return { story: null, state: null, escalation: run.escalation };
  const state = states.find(({ story, escalation }) => story.id === about || escalation?.id === about);
  if (state === undefined) {
    throw new RemandError(
      "usage",
      `no open question and no story is called ${about}`,
      "remand inbox lists the questions, remand status the stories.",
    );
  }
  const refusal = state.ending === null ? null : reopenRefusal(state, verb);
  if (refusal !== null) throw new RemandError("usage", refusal, "A finished story cannot be changed.");
  return { story: state.story.id, state, escalation: state.escalation };
}

/** Validates an answer from the terminal or the dashboard, for the journal; throws if it makes no sense. */
export function personAnswer(subject: AnswerSubject, said: AnswerInput): Answer {
  const { escalation, state } = subject;
  const { verb, by, gate, phase } = said;
  checkVerb(subject, verb);
  const message = said.message.trim();
  if (message === "" && needsMessage(verb, escalation?.reason ?? null)) {
    throw new RemandError("usage", `${verb} needs a message`, 'Add one: --message "…". It is recorded with your name.');
  }
  const askedGate = gate ?? escalation?.gate ?? state?.failing?.gate ?? null;
  const findings = findingsOf(state, askedGate, said.findings ?? []);
  // Without a question, the gate follows from the findings.
  const about = askedGate === null ? gateOf(state, findings) : gate;
  if (verb === "dispute") checkDispute(state, about ?? askedGate, findings);
  return {
    verb,
    by,
    message,
    escalation: escalation?.id ?? null,
    ...(about === undefined ? {} : { gate: about }),
    ...(findings.length === 0 ? {} : { findings }),
    ...(phase === undefined ? {} : { phase: knownPhase(state, phase) }),
    ...(verb === "raise-budget" ? raise(escalation, said) : {}),
    ...(verb === "known" || verb === "target" ? failuresMeant(escalation, said) : {}),
    ...(verb === "allow" ? testsAllowed(escalation, said) : {}),
  };
}

/** The failures that an answer is about, by their full names; without a pattern, all failures of the question. */
function failuresMeant(escalation: Escalation | null, { verb, tests = [] }: AnswerInput): { tests: readonly string[] } {
  const asked = escalation?.reason.type === "failing-base" ? escalation.reason.tests : null;
  if (asked === null)
    throw new RemandError(
      "usage",
      `"${verb}" only answers a question about failing tests of the base, and none is open`,
      "List a known failure under knownFailures in remand.yaml, or a target in the story's front matter.",
    );
  return { tests: matching(asked, tests, "failure") };
}

/** The tests that the work may change: those of the question; without a question, any names and patterns. */
function testsAllowed(escalation: Escalation | null, { tests = [] }: AnswerInput): { tests: readonly string[] } {
  if (escalation?.reason.type === "contested-tests")
    return { tests: matching(escalation.reason.tests, tests, "contested test") };
  if (tests.length > 0) return { tests };
  throw new RemandError(
    "usage",
    "allow needs the tests that the work may change, because no question names them",
    'Name them by name, file or pattern: --test "test/cart.test.js"',
  );
}

/** The names of the question that match the patterns; without a pattern, all. */
function matching(asked: readonly string[], patterns: readonly string[], what: string): readonly string[] {
  const none = patterns.find((pattern) => !asked.some((name) => matchesTest(name, pattern)));
  if (none !== undefined)
    throw new RemandError(
      "usage",
      `no ${what} of the question matches ${none}`,
      `There are these:\n${asked.map((name) => `  ${name}`).join("\n")}`,
    );
  return patterns.length === 0 ? asked : asked.filter((name) => patterns.some((each) => matchesTest(name, each)));
}

/**
 * Throws unless the answer is one of the question's. Without a question, all answers that make sense for a story are
 * allowed.
 */
function checkVerb({ escalation, story, state }: AnswerSubject, verb: AnswerVerb): void {
  // Which answers reopen a story was checked when the story was found.
  if (state !== null && state.ending !== null) return;
  if (verb === "pull-request")
    throw new RemandError(
      "usage",
      `${story ?? "the run"} is not accepted: a pull request is opened for work that passed its gates`,
      "Set deliver: pull-request in remand.yaml to have one opened when it is accepted.",
    );
  if (escalation === null) {
    if (ABOUT_A_QUESTION.has(verb))
      throw new RemandError(
        "usage",
        `${verb} answers a question, and ${story} asks none`,
        "remand inbox lists the open questions.",
      );
    if (!ABOUT_THE_RUN.has(verb)) return;
    throw new RemandError(
      "usage",
      `${verb} is about the whole run, not about ${story}`,
      "It answers a question of the run: see remand inbox.",
    );
  }
  const triage = story === null ? [] : TRIAGE_OPTIONS;
  const options = [...escalation.options, ...triage];
  if (options.some((option) => option.verb === verb)) return;
  const lines = options.map((option) => `  ${answerCommand(escalation.id, option.verb)}`);
  throw new RemandError("usage", `${verb} is no answer to ${escalation.id}`, ["It has these:", ...lines].join("\n"));
}

/** Answers that only make sense for a question, because they confirm what the question asks. */
const ABOUT_A_QUESTION: ReadonlySet<AnswerVerb> = new Set(["merge", "drop", "defer", "dismiss"]);

const ABOUT_THE_RUN: ReadonlySet<AnswerVerb> = new Set(["retry", "declare-healthy", "halt"]);

/** Finds findings by a prefix of their ids, among those of the gate's last judgement. */
function findingsOf(state: StoryState | null, gate: GateName | null, typed: readonly string[]): Fingerprint[] {
  const known = knownFindings(state, gate);
  return typed.map((text) => {
    const matching = known.filter(({ id }) => id.startsWith(text));
    if (matching.length === 1) return matching[0]!.id;
    const list = known.map((finding) => `  ${finding.id}  ${findingText(finding, 100)}`).join("\n");
    throw new RemandError(
      "usage",
      `${matching.length === 0 ? "no" : "more than one"} finding begins with ${text}`,
      `There are these:\n${list}`,
    );
  });
}

/** The findings of the gate's last judgement, or of all gates'. */
export function knownFindings(state: StoryState | null, gate: GateName | null): readonly Finding[] {
  const judged = gate === null ? GATES : [gate];
  return state === null ? [] : judged.flatMap((each) => state.gates[each]?.last?.findings ?? []);
}

/** The gate that reported all of these findings. */
function gateOf(state: StoryState | null, findings: readonly Fingerprint[]): GateName | undefined {
  if (findings.length === 0) return undefined;
  return GATES.find((gate) => {
    const named = knownFindings(state, gate);
    return findings.every((id) => named.some((finding) => finding.id === id));
  });
}

/** Throws unless the findings can be disputed: only reviewers' findings, once each. */
function checkDispute(state: StoryState | null, gate: GateName | null, findings: readonly Fingerprint[]): void {
  const open = state === null ? [] : (gate === null ? GATES : [gate]).flatMap((each) => disputable(state, each));
  const list = open.map((finding) => `  --finding ${finding.id}  ${findingText(finding, 100)}`);
  const others =
    list.length === 0
      ? 'There is none left that can be disputed. To let it through in your name: waive --finding … --message "…".'
      : ["Name it:", ...list].join("\n");
  if (findings.length === 0) throw new RemandError("usage", "dispute needs a finding", others);
  if (state === null || gate === null)
    throw new RemandError("usage", "these findings are not of one gate", "Dispute those of each gate by themselves.");
  for (const finding of knownFindings(state, gate)) {
    const why = findings.includes(finding.id) ? disputeRefusal(state, gate, finding) : null;
    if (why !== null) throw new RemandError("usage", `the finding ${finding.id} ${why}`, others);
  }
}

function knownPhase(state: StoryState | null, phase: Phase): Phase {
  const phases = (state?.policy?.phases ?? []).map((plan) => plan.phase);
  if (phases.includes(phase)) return phase;
  throw new RemandError("usage", `${state?.story.id} has no phase ${phase}`, `It has ${phases.join(", ")}.`);
}

function raise(escalation: Escalation | null, said: AnswerInput): { budget: BudgetName; limit: number } {
  const reason = escalation?.reason.type === "budget" ? escalation.reason : null;
  const budget = said.budget ?? reason?.budget;
  if (budget === undefined)
    throw new RemandError("usage", "raise-budget needs a budget", `Name it: --budget ${BUDGETS.join(" | ")}`);
  const limit = said.limit ?? 0;
  if (limit <= 0) {
    const sample = budget.endsWith("time") ? "4h" : "20";
    throw new RemandError("usage", "raise-budget needs the new limit", `Give it: --limit ${sample}`);
  }
  if (reason?.budget !== budget || limit > reason.used) return { budget, limit };
  throw new RemandError(
    "usage",
    `${reason.used} used so far: a limit of ${limit} would stop it again`,
    `Give more: --limit ${Math.ceil(reason.used * 2)}`,
  );
}

/** The budgets that a person can raise. */
export const BUDGETS: readonly BudgetName[] = [
  ...GATES.map((gate): BudgetName => `failures:${gate}`),
  "iterations",
  "cost",
  "tokens",
  "time",
  "run-cost",
  "run-tokens",
  "run-time",
  "run-actions",
];

/** Finds the story to pause or resume; throws if that is impossible. */
export function holdSubject(run: RunState, about: string, wanted: "held" | "released"): StoryId {
  const state = lookup(run.stories, about as StoryId, byText);
  if (state === undefined)
    throw new RemandError("usage", `there is no story ${about}`, "remand status lists the stories.");
  const { story, ending, held } = state;
  if (ending !== null)
    throw new RemandError("usage", `${story.id} is over: ${ending.how}`, "A finished story cannot be changed.");
  if (held === (wanted === "held"))
    throw new RemandError(
      "usage",
      held ? `${story.id} is paused already` : `${story.id} is not paused`,
      held ? `Resume it: remand resume ${story.id}.` : `Pause it: remand stop ${story.id}.`,
    );
  return story.id;
}
