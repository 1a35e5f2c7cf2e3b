import { withoutBackticks } from "../../../stdx/plain-text.ts";
import { durationMs } from "../../../config/duration.ts";
import type { BudgetName } from "../../../core/stories/budget.ts";
import { RemandError } from "../../../core/events/error.ts";
import { ANSWER_VERBS, type AnswerVerb, type Escalation } from "../../../core/stories/escalation.ts";
import { GATES } from "../../../core/gates/gate.ts";
import {
  type AnswerSubject,
  BUDGETS,
  type AnswerInput,
  answerSubject,
  personAnswer,
  storiesMeant,
} from "../../../views/answers/person-answer.ts";
import { isLastUndoInTime, tooLate, undoSubject } from "../../../views/answers/likely-answers.ts";
import { type CliCommand, EXIT, type World } from "../../../app/command.ts";
import { collectLines, nothingYet, questionTyped, withStories } from "../../../app/with-journal.ts";
import { collect, matchName, personOf, wordOf } from "../../../app/option-values.ts";
import type { Answer } from "../../../core/events/event.ts";
import type { StoryId } from "../../../core/events/ids.ts";
import { itemsOf } from "../../../views/answers/inbox.ts";
import { shortLine } from "../../../views/text/words.ts";
import { labeledLines } from "../../table.ts";
import { type AskedQuestion, pickAnswer } from "../../picker.ts";

interface Options {
  readonly message?: string;
  readonly gate?: string;
  readonly finding?: readonly string[];
  readonly test?: readonly string[];
  readonly budget?: string;
  readonly limit?: string;
  readonly by?: string;
  readonly undo?: boolean;
  readonly all?: boolean;
  readonly cause?: string;
  readonly json?: boolean;
}

const EXAMPLES = `Examples:
  remand answer esc-checkout-1 send-back --message "the token expires after an hour, not a day"
  remand answer checkout-retry merge        approve the merge: Remand merges it in your name
  remand answer checkout-retry pull-request open a pull request for accepted work on its branch
  remand answer checkout-retry waive --gate review --message "accepted risk, see TICKET-12"
  remand answer esc-checkout-2 raise-budget --limit 20
  remand answer esc-checkout-3 known --test "test/legacy/**" --message "the printer is gone, see TICKET-9"
  remand answer esc-checkout-4 allow --message "the story changes how totals are rounded"
  remand answer checkout-retry abandon --message "not needed any more"
  remand answer                             on a terminal: pick a question and an answer
  remand answer checkout-retry              the same for the question of one story
  remand answer --all --cause budget-cost raise-budget --limit 5
  remand answer esc-checkout-5 defer --message "after the release"
  remand answer esc-checkout-5 dismiss --message "the test is about a page that is gone"
  remand answer checkout-retry --undo       undo the last answer, while no work has started on it

remand inbox lists what waits, and what each answer does. A running engine picks the answer up at once;
otherwise remand run does.
`;

export const command: CliCommand = {
  name: "answer",
  register(command, world, done) {
    command
      .usage("[question|story] [verb] [options]")
      .argument("[about]", "the id of a question or of a story, or the beginning of it")
      .argument("[verb]", ANSWER_VERBS.join(", "))
      .option("--all", "give this answer to every question of one cause")
      .option("--cause <cause>", "with --all: which cause; remand inbox --json cause lists them")
      .option("--undo", "undo the last answer about it")
      .option("--message <text>", "the reason, or the guidance for the next attempt")
      .option("--gate <gate>", "the gate it is about (default: the escalation's)")
      .option("--finding <id>", "the finding it is about, or the beginning of its id; can be given again", collect)
      .option(
        "--test <glob>",
        "for known, target and allow: the tests it is about, by name, file or pattern (default: all that are asked about); can be given again",
        collect,
      )
      .option("--budget <name>", "for raise-budget: which one (default: the escalation's)")
      .option("--limit <number>", "for raise-budget: the new limit; a length of time for a time budget")
      .option("--by <name>", "who says so (default: you)")
      .option("--json", "print a document of the schema remand.answer/1")
      .addHelpText("before", EXAMPLES)
      .action(async (about: string | undefined, verb: string | undefined, options: Options) => {
        if (options.all === true || options.cause !== undefined) await answerAll(world, about, verb, options);
        else if (about === undefined) await pickOrRefuse(world, options);
        else if (options.undo === true) await undo(world, await questionTyped(world, about), verb, options);
        else if (verb !== undefined || !(await pickAbout(world, about, options)))
          await answer(world, await questionTyped(world, about), verb, options);
        done(EXIT.ok);
      });
  },
};

async function pickOrRefuse(world: World, options: Options): Promise<void> {
  const isPicked = options.undo !== true && options.json !== true && (await answerByPicker(world));
  if (!isPicked)
    throw new RemandError(
      "usage",
      "the question is missing",
      "Name one: remand answer <question> <answer>. remand inbox lists them.",
    );
}

/** Lets the person at the terminal pick an answer to what they named; `false` where nothing is asked about it. */
async function pickAbout(world: World, about: string, options: Options): Promise<boolean> {
  if (options.json === true || world.keyboard === null) return false;
  const subject = await questionTyped(world, about);
  const view = await world.host.readStories(world.cwd, "asking");
  await view?.close();
  const isAsked = view?.states.some(({ story, escalation }) => story.id === subject || escalation?.id === subject);
  return isAsked === true && (await answerByPicker(world, subject));
}

/**
 * Lets the person at the terminal pick a question and an answer; `false` where there is no terminal. With `only`: this
 * question, or those of this story and of the whole run.
 */
export async function answerByPicker(world: World, only: string | null = null): Promise<boolean> {
  const { keyboard } = world;
  if (keyboard === null) return false;
  const view = await world.host.readStories(world.cwd, "asking");
  if (view === null) throw nothingYet();
  await view.close();
  const asked = (escalation: Escalation | null, story: StoryId | null): AskedQuestion[] =>
    escalation === null ? [] : [{ escalation, story }];
  const questions = [
    ...asked(view.run.escalation, null),
    ...view.states.flatMap(({ escalation, story }) => asked(escalation, story.id)),
  ].filter(
    ({ story, escalation }) =>
      only === null || escalation.id === only || (story === null ? !isQuestion(only) : story === only),
  );
  if (questions.length === 0) world.out("Nothing waits for you.\n");
  const picked = await pickAnswer(world, keyboard, questions, ({ story, escalation: { assessment } }) =>
    world.out(
      `${labeledLines(world, `${story ?? "the whole run"}: `, withoutBackticks(shortLine(assessment, 600))).join("\n")}\n`,
    ),
  );
  if (picked === null) return true;
  const { about, verb, message, raise } = picked;
  const limit = raise === undefined ? {} : { budget: raise.budget, limit: raise.limit };
  const by = await personOf(world, undefined);
  const given = await withStories(world, storiesMeant(about), ({ run, states }) => {
    const subject = answerSubject(run, states, about, verb);
    return Promise.resolve({ story: subject.story, answer: personAnswer(subject, { verb, by, message, ...limit }) });
  });
  await tell(world, given, false);
  return true;
}

const isQuestion = (id: string): boolean => id.startsWith("esc-");

/** Gives the same answer to all questions of a cause. All of them are validated before the first one is appended. */
async function answerAll(
  world: World,
  verb: string | undefined,
  extra: string | undefined,
  options: Options,
): Promise<void> {
  if (extra !== undefined || options.all !== true || options.undo === true)
    throw new RemandError(
      "usage",
      "--all takes one answer and no question",
      "Example: remand answer --all --cause budget-cost abandon",
    );
  const named = wordOf("an answer", verb ?? "", ANSWER_VERBS);
  const by = await personOf(world, options.by);
  const view = await world.host.readStories(world.cwd, "asking");
  if (view === null) throw nothingYet();
  await view.close();
  const items = itemsOf(view.run, view.states);
  const causes = [...new Set(items.map(({ cause }) => cause))];
  if (causes.length === 0) return world.out("Nothing waits for you.\n");
  const cause = options.cause === undefined && causes.length === 1 ? causes[0] : matchName(options.cause ?? "", causes);
  if (cause === undefined)
    throw new RemandError(
      "usage",
      options.cause === undefined
        ? "the questions have more than one cause"
        : `no question has the cause ${options.cause}`,
      `Choose one: --cause ${causes.join(", --cause ")}.`,
    );
  const answers = items
    .filter((item) => item.cause === cause)
    .map(({ id }) => {
      const subject = answerSubject(view.run, view.states, id, named);
      return { story: subject.story, answer: personAnswer(subject, words(subject, named, by, options)) };
    });
  for (const each of answers) await tell(world, each, options.json === true, false);
  if (options.json === true) world.out(`${JSON.stringify({ schema: "remand.answers/1", cause, answers }, null, 2)}\n`);
}

interface GivenAnswer {
  readonly story: StoryId | null;
  readonly answer: Answer;
}

async function tell(
  world: World,
  { story, answer: said }: GivenAnswer,
  isDocument: boolean,
  isAlone = true,
): Promise<void> {
  await world.host.appendEvents(world.cwd, story, [{ type: "person.answered", answer: said }]);
  if (isDocument && isAlone)
    world.out(`${JSON.stringify({ schema: "remand.answer/1", story, answer: said }, null, 2)}\n`);
  if (!isDocument)
    world.out(`${story ?? "the run"}: ${said.by} ${EFFECTS[said.verb] ?? `says ${said.verb}. ${CONTINUES}`}\n`);
}

async function undo(world: World, about: string, verb: string | undefined, options: Options): Promise<void> {
  if (verb !== undefined)
    throw new RemandError("usage", "--undo takes no answer", `To undo the last answer: remand answer ${about} --undo`);
  const by = await personOf(world, options.by);
  const { story, answer: said } = await withStories(world, storiesMeant(about), ({ run, states }) =>
    Promise.resolve(undoSubject(run, states, about)),
  );
  await world.host.appendEvents(world.cwd, story, [{ type: "answer.undone", by }]);
  // An engine may have started work since the check above; then the undo came too late, which is reported.
  const lines = await withStories(world, [story], (view) => collectLines(view.lines(story)));
  if (!isLastUndoInTime(lines)) throw tooLate(story, "work on it has just started");
  if (options.json === true)
    world.out(`${JSON.stringify({ schema: "remand.answer/1", story, undone: said }, null, 2)}\n`);
  else world.out(`${story}: ${by} undid ${said.verb}. The story is as it was before the answer.\n`);
}

async function answer(world: World, about: string, typedVerb: string | undefined, options: Options): Promise<void> {
  if (typedVerb === undefined)
    throw new RemandError("usage", "the answer is missing", `Give one: ${ANSWER_VERBS.join(", ")}; or --undo.`);
  const verb = wordOf("an answer", typedVerb, ANSWER_VERBS);
  const by = await personOf(world, options.by);
  const given = await withStories(world, storiesMeant(about), ({ run, states }) => {
    const subject = answerSubject(run, states, about, verb);
    return Promise.resolve({ story: subject.story, answer: personAnswer(subject, words(subject, verb, by, options)) });
  });
  await tell(world, given, options.json === true);
}

const CONTINUES = "A running engine continues with it; otherwise remand run does.";

const EFFECTS: { readonly [V in AnswerVerb]?: string } = {
  defer: "deferred the question until the next remand run, which asks it again.",
  dismiss: "dismissed the story. It has ended.",
};

/** Builds the answer from the typed words, and validates each of them. */
function words({ escalation }: AnswerSubject, verb: AnswerVerb, by: string, options: Options): AnswerInput {
  const gate = options.gate === undefined ? undefined : wordOf("a gate", options.gate, GATES);
  const asked = escalation?.reason.type === "budget" ? escalation.reason.budget : undefined;
  const isRaise = verb === "raise-budget";
  const budget = isRaise && options.budget !== undefined ? wordOf("a budget", options.budget, BUDGETS) : asked;
  const limit = isRaise && budget !== undefined ? limitOf(budget, options.limit) : undefined;
  return {
    verb,
    by,
    message: options.message ?? "",
    gate,
    findings: options.finding,
    tests: options.test,
    budget,
    limit,
  };
}

function limitOf(budget: BudgetName, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (budget.endsWith("time")) return durationMs(text) ?? undefined;
  return /^\d{1,12}(?:\.\d{1,6})?$/.test(text) ? Number(text) : undefined;
}
