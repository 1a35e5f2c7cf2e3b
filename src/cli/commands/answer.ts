import { durationMs } from "../../config/duration.ts";
import type { BudgetName } from "../../domain/budget.ts";
import { RemandError } from "../../domain/error.ts";
import { ANSWER_VERBS, type AnswerVerb, type Escalation } from "../../domain/escalation.ts";
import type { Answer } from "../../domain/event.ts";
import { GATES, type GateName } from "../../domain/gate.ts";
import type { Fingerprint, StoryId } from "../../domain/ids.ts";
import type { RunState } from "../../domain/run-state.ts";
import type { StoryState } from "../../domain/story-state.ts";
import { entries } from "../../stdx/sorted-map.ts";
import { findingText } from "../../views/finding-text.ts";
import { answerLine, NEEDS_MESSAGE } from "../../views/inbox.ts";
import { EXIT, type CliCommand, type World } from "../command.ts";
import { looking } from "../looking.ts";
import { collect, wordOf } from "../option-values.ts";
import { personOf } from "../person.ts";

interface Options {
  readonly message?: string;
  readonly gate?: string;
  readonly finding?: readonly string[];
  readonly budget?: string;
  readonly limit?: string;
  readonly by?: string;
  readonly json?: boolean;
}

const EXAMPLES = `Examples:
  remand answer esc-checkout-1 send-back --message "the token expires after an hour, not a day"
  remand answer checkout-retry waive --gate review --message "accepted risk, see TICKET-12"
  remand answer esc-checkout-2 raise-budget --limit 20
  remand answer checkout-retry abandon --message "not needed any more"

remand inbox lists what waits, and what each answer does. An engine that is at work takes the answer up at once;
otherwise remand run does.
`;

export const command: CliCommand = {
  name: "answer",
  summary: "answer a question, or speak about a story unasked",
  register(command, world, done) {
    command
      .usage("<escalation|story> <verb> [options]")
      .argument("<about>", "the id of an escalation or of a story")
      .argument("<verb>", ANSWER_VERBS.join(", "))
      .option("--message <text>", "the reason, or the guidance for the next attempt")
      .option("--gate <gate>", "the gate it is about (default: the escalation's)")
      .option("--finding <id>", "the finding it is about, or the beginning of its id; can be given again", collect)
      .option("--budget <name>", "for raise-budget: which one (default: the escalation's)")
      .option("--limit <number>", "for raise-budget: the new limit; a length of time for a time budget")
      .option("--by <name>", "who says so (default: you)")
      .option("--json", "print a document of the schema remand.answer/1")
      .addHelpText("before", EXAMPLES)
      .action(async (about: string, verb: string, options: Options) => {
        await answer(world, about, verb, options);
        done(EXIT.ok);
      });
  },
};

async function answer(world: World, about: string, typedVerb: string, options: Options): Promise<void> {
  const verb = wordOf("an answer", typedVerb, ANSWER_VERBS);
  const by = await personOf(world, options.by);
  const { story, said } = await looking(world, (look) => {
    const subject = subjectOf(look.state, about);
    return Promise.resolve({ story: subject.story, said: answerOf(subject, verb, by, options) });
  });
  await world.host.tell(world.cwd, story, [{ type: "person.answered", answer: said }]);
  if (options.json === true)
    world.out(`${JSON.stringify({ schema: "remand.answer/1", story, answer: said }, null, 2)}\n`);
  else
    world.out(
      `${story ?? "the run"}: ${by} says ${verb}. An engine that is at work goes on with it, otherwise remand run does.\n`,
    );
}

interface Subject {
  readonly story: StoryId | null;
  readonly state: StoryState | null;
  readonly escalation: Escalation | null;
}

/** The escalation, or the story, that is meant. Whoever names a story answers what it asks now, if it asks anything. */
function subjectOf(run: RunState, about: string): Subject {
  if (run.escalation?.id === about) return { story: null, state: null, escalation: run.escalation };
  const states = [...entries(run.stories)].map(([, state]) => state);
  const state = states.find(({ story, escalation }) => story.id === about || escalation?.id === about);
  if (state === undefined) {
    throw new RemandError(
      "usage",
      `no open question and no story is called ${about}`,
      "remand inbox lists the questions, remand status the stories.",
    );
  }
  if (state.ending !== null) {
    throw new RemandError(
      "usage",
      `${state.story.id} is over: ${state.ending.how}`,
      "A story that is over is not changed any more.",
    );
  }
  return { story: state.story.id, state, escalation: state.escalation };
}

function answerOf(subject: Subject, verb: AnswerVerb, by: string, options: Options): Answer {
  const { escalation, state } = subject;
  checkVerb(subject, verb);
  const message = options.message?.trim() ?? "";
  const isApproval = escalation?.reason.type === "approval";
  if (message === "" && NEEDS_MESSAGE.has(verb) && !(isApproval && verb === "send-back")) {
    throw new RemandError(
      "usage",
      `${verb} needs your words`,
      'Give them: --message "…" They stand beside your name in the record.',
    );
  }
  const gate = options.gate === undefined ? undefined : wordOf("a gate", options.gate, GATES);
  const findings = findingsOf(state, gate ?? escalation?.gate ?? state?.failing?.gate ?? null, options.finding ?? []);
  if (verb === "dispute" && findings.length === 0) throw nothingDisputed(state);
  return {
    verb,
    by,
    message,
    escalation: escalation?.id ?? null,
    ...(gate === undefined ? {} : { gate }),
    ...(findings.length === 0 ? {} : { findings }),
    ...(verb === "raise-budget" ? raise(escalation, options) : {}),
  };
}

/** A question says which answers it has. Unasked, a person may say about a story whatever makes sense for one. */
function checkVerb({ escalation, story }: Subject, verb: AnswerVerb): void {
  if (escalation === null) {
    if (!ABOUT_THE_RUN.has(verb)) return;
    throw new RemandError(
      "usage",
      `${verb} is about the whole run, not about ${story}`,
      "It answers a question of the run: see remand inbox.",
    );
  }
  if (escalation.options.some((option) => option.verb === verb)) return;
  const lines = escalation.options.map((option) => `  ${answerLine(escalation.id, option.verb)}`);
  throw new RemandError("usage", `${verb} is no answer to ${escalation.id}`, ["It has these:", ...lines].join("\n"));
}

const ABOUT_THE_RUN: ReadonlySet<AnswerVerb> = new Set(["retry", "declare-healthy", "halt"]);

/** Findings by the beginning of their ids, among those the gate named last. */
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

function knownFindings(state: StoryState | null, gate: GateName | null) {
  const judged = gate === null ? GATES : [gate];
  return state === null ? [] : judged.flatMap((each) => state.gates[each]?.last?.findings ?? []);
}

function nothingDisputed(state: StoryState | null): RemandError {
  const list = knownFindings(state, state?.failing?.gate ?? null).map(
    (finding) => `  --finding ${finding.id}  ${findingText(finding, 100)}`,
  );
  return new RemandError("usage", "dispute needs a finding", ["Name it:", ...list].join("\n"));
}

function raise(escalation: Escalation | null, options: Options): { budget: BudgetName; limit: number } {
  const reason = escalation?.reason.type === "budget" ? escalation.reason : null;
  const budget = options.budget === undefined ? reason?.budget : wordOf("a budget", options.budget, BUDGETS);
  if (budget === undefined)
    throw new RemandError("usage", "raise-budget needs a budget", `Name it: --budget ${BUDGETS.join(" | ")}`);
  const limit = limitOf(budget, options.limit);
  if (reason?.budget !== budget || limit > reason.used) return { budget, limit };
  throw new RemandError(
    "usage",
    `${reason.used} are used already: a limit of ${limit} would stop it again`,
    `Give more: --limit ${Math.ceil(reason.used * 2)}`,
  );
}

const BUDGETS: readonly BudgetName[] = [
  ...GATES.map((gate): BudgetName => `failures:${gate}`),
  "iterations",
  "cost",
  "tokens",
  "time",
  "run-cost",
  "run-tokens",
  "run-time",
];

function limitOf(budget: BudgetName, text: string | undefined): number {
  const isTime = budget.endsWith("time");
  const limit =
    text === undefined ? null : isTime ? durationMs(text) : /^\d{1,12}(?:\.\d{1,6})?$/.test(text) ? Number(text) : null;
  if (limit !== null && limit > 0) return limit;
  throw new RemandError("usage", "raise-budget needs the new limit", `Give it: --limit ${isTime ? "4h" : "20"}`);
}
