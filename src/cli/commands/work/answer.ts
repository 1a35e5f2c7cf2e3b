import { durationMs } from "../../../config/duration.ts";
import type { BudgetName } from "../../../core/stories/budget.ts";
import { RemandError } from "../../../core/events/error.ts";
import { ANSWER_VERBS, type AnswerVerb } from "../../../core/stories/escalation.ts";
import { GATES } from "../../../core/gates/gate.ts";
import {
  type AnswerSubject,
  BUDGETS,
  type AnswerInput,
  answerSubject,
  personAnswer,
  storiesMeant,
} from "../../../views/answers/person-answer.ts";
import { isLastUndoHeard, tooLate, undoSubject } from "../../../views/answers/undo-answer.ts";
import { type CliCommand, EXIT, type World } from "../../../app/command.ts";
import { collectLines, withStories } from "../../../app/with-journal.ts";
import { collect, personOf, wordOf } from "../../../app/option-values.ts";

interface Options {
  readonly message?: string;
  readonly gate?: string;
  readonly finding?: readonly string[];
  readonly test?: readonly string[];
  readonly budget?: string;
  readonly limit?: string;
  readonly by?: string;
  readonly undo?: boolean;
  readonly json?: boolean;
}

const EXAMPLES = `Examples:
  remand answer esc-checkout-1 send-back --message "the token expires after an hour, not a day"
  remand answer checkout-retry merge        approve the merge: Remand merges it in your name
  remand answer checkout-retry waive --gate review --message "accepted risk, see TICKET-12"
  remand answer esc-checkout-2 raise-budget --limit 20
  remand answer esc-checkout-3 known --test "test/legacy/**" --message "the printer is gone, see TICKET-9"
  remand answer esc-checkout-4 allow --message "the story changes how totals are rounded"
  remand answer checkout-retry abandon --message "not needed any more"
  remand answer checkout-retry --undo       undo the last answer, while no work has started on it

remand inbox lists what waits, and what each answer does. A running engine picks the answer up at once;
otherwise remand run does.
`;

export const command: CliCommand = {
  name: "answer",
  summary: "answer a question, or decide about a story unasked",
  register(command, world, done) {
    command
      .usage("<escalation|story> <verb> [options]")
      .argument("<about>", "the id of an escalation or of a story")
      .argument("[verb]", ANSWER_VERBS.join(", "))
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
      .action(async (about: string, verb: string | undefined, options: Options) => {
        if (options.undo === true) await undo(world, about, verb, options);
        else await answer(world, about, verb, options);
        done(EXIT.ok);
      });
  },
};

async function undo(world: World, about: string, verb: string | undefined, options: Options): Promise<void> {
  if (verb !== undefined)
    throw new RemandError(
      "usage",
      "--undo takes no verb",
      `Without it the last answer goes: remand answer ${about} --undo`,
    );
  const by = await personOf(world, options.by);
  const { story, answer: said } = await withStories(world, storiesMeant(about), ({ run, states }) =>
    Promise.resolve(undoSubject(run, states, about)),
  );
  await world.host.appendEvents(world.cwd, story, [{ type: "answer.undone", by }]);
  // Between the look and the word an engine may have begun; then the word came too late, and that is said.
  const lines = await withStories(world, [story], (view) => collectLines(view.lines(story)));
  if (!isLastUndoHeard(lines)) throw tooLate(story, "work on it has just started");
  if (options.json === true)
    world.out(`${JSON.stringify({ schema: "remand.answer/1", story, undone: said }, null, 2)}\n`);
  else world.out(`${story}: ${by} undid ${said.verb}. The story is as it was before the answer.\n`);
}

async function answer(world: World, about: string, typedVerb: string | undefined, options: Options): Promise<void> {
  if (typedVerb === undefined)
    throw new RemandError("usage", "there is no answer", `Give one: ${ANSWER_VERBS.join(", ")}; or --undo.`);
  const verb = wordOf("an answer", typedVerb, ANSWER_VERBS);
  const by = await personOf(world, options.by);
  const { story, said } = await withStories(world, storiesMeant(about), ({ run, states }) => {
    const subject = answerSubject(run, states, about);
    return Promise.resolve({ story: subject.story, said: personAnswer(subject, words(subject, verb, by, options)) });
  });
  await world.host.appendEvents(world.cwd, story, [{ type: "person.answered", answer: said }]);
  if (options.json === true)
    world.out(`${JSON.stringify({ schema: "remand.answer/1", story, answer: said }, null, 2)}\n`);
  else
    world.out(
      `${story ?? "the run"}: ${by} says ${verb}. A running engine continues with it; otherwise remand run does.\n`,
    );
}

/** What was typed, each word checked against what there is. */
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
