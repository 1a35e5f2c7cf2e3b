import { withoutBackticks } from "../../../stdx/plain-text.ts";
import { locationText, statusText } from "../../../core/gates/finding.ts";
import { TRIAGE_OPTIONS, answerCommand } from "../../../core/stories/escalation.ts";
import { itemsOf, type InboxItem, openFindings } from "../../../views/answers/inbox.ts";
import { deferredText, shortLine } from "../../../views/text/words.ts";
import { EXIT, type CliCommand, type World } from "../../../app/command.ts";
import { fieldsHelp, JSON_OPTION, pickFields, pickedFields } from "../../json-fields.ts";
import { answerByPicker } from "../work/answer.ts";
import { labeledLines } from "../../table.ts";
import { glyphsFor, paintFor } from "../../terminal-kind.ts";

const EXAMPLES = `Examples:
  remand inbox                        what waits for a person, and what each answer does and costs
  remand inbox --no-input             the list alone: on a terminal a question can be picked and answered below it
  remand inbox --json                 as a document for programs
  remand inbox --json id,question     only these fields of each question
`;

export const command: CliCommand = {
  name: "inbox",
  register(command, world, done) {
    command
      .option(JSON_OPTION, "print a document of the schema remand.inbox/1, or these fields of its items")
      .addHelpText("before", EXAMPLES)
      .addHelpText("after", fieldsHelp("inbox"))
      .action(async (options: { readonly json?: boolean | string }) => {
        await inbox(world, pickedFields("inbox", options.json));
        done(EXIT.ok);
      });
  },
};

async function inbox(world: World, fields: readonly string[] | null | false): Promise<void> {
  const view = await world.host.readStories(world.cwd, "asking");
  const items = view === null ? [] : itemsOf(view.run, view.states);
  await view?.close();
  if (fields !== false) {
    const shown = items.map((item) => pickFields(item, fields));
    world.out(`${JSON.stringify({ schema: "remand.inbox/1", items: shown }, null, 2)}\n`);
  } else if (items.length === 0) world.out("Nothing waits for you.\n");
  else {
    const open = items.filter(({ deferred }) => deferred === null);
    const pending = open.map((item) => itemText(world, item, open));
    const deferred = items.flatMap((item) => deferredLine(item));
    world.out([...pending, ...(deferred.length === 0 ? [] : [deferred.join("")])].join("\n"));
  }
  if (fields === false && items.length > 0 && world.keyboard !== null) await answerByPicker(world);
}

/** A deferred question can still be answered before the next run asks it again. */
function deferredLine({ id, story, reason, deferred }: InboxItem): string[] {
  return deferred === null ? [] : [`· ${id}  ${story}: ${reason} (${shortLine(deferredText(deferred), 160)})\n`];
}

/** The command that answers all questions with the same cause at once. */
function causeLines({ cause }: InboxItem, all: readonly InboxItem[]): string[] {
  const count = all.filter((each) => each.cause === cause).length;
  return count === 1 ? [] : [`  all ${count} of this cause: remand answer --all --cause ${cause} <answer>`];
}

/**
 * The first question of the same cause with the same answers, which lists them for this question too. A question with
 * findings to dispute lists its own.
 */
function listedWith(item: InboxItem, all: readonly InboxItem[]): InboxItem | null {
  if (item.disputable.length > 0) return null;
  const verbs = ({ answers }: InboxItem): string => answers.map(({ verb }) => verb).join(" ");
  const first = all.find((each) => each.cause === item.cause && verbs(each) === verbs(item));
  return first === undefined || first.id === item.id ? null : first;
}

function itemText(world: World, item: InboxItem, all: readonly InboxItem[]): string {
  const paint = paintFor(world.color);
  const mark = glyphsFor(world.env).marks.person;
  const field = (name: string, text: string): string[] =>
    labeledLines(world, `  ${name.padEnd(LABEL_WIDTH)}`, withoutBackticks(shortLine(text, 300)));
  const listed = listedWith(item, all);
  const lines = [
    // Wrapped before it is painted, because escape codes would count as width.
    ...labeledLines(
      world,
      `${mark} `,
      `${item.id}  ${item.story ?? "the whole run"}: ${withoutBackticks(item.reason)}`,
    ).map((line) => line.replace(`${mark} ${item.id}`, `${paint.warn(mark)} ${paint.strong(item.id)}`)),
    ...field("why", item.assessment),
    ...field("advice", item.recommendation),
    ...findingLines(item).flatMap((text) => field("finding", text)),
    ...field("question", item.question),
    ...(listed === null
      ? answerLines(world, item, all)
      : [`  the same cause and answers as ${listed.id}: remand answer ${item.id} <answer>`]),
    ...(item.story === null ? [] : [`  remand show ${item.story} shows its history`]),
  ];
  return `${lines.join("\n")}\n`;
}

/** Each answer with its command, its effect and its cost. */
function answerLines(world: World, item: InboxItem, all: readonly InboxItem[]): string[] {
  const { dim } = paintFor(world.color);
  const isTriage = ({ verb }: InboxItem["answers"][number]): boolean =>
    TRIAGE_OPTIONS.some((each) => each.verb === verb);
  return [
    ...item.answers
      .filter((answer) => !isTriage(answer))
      .flatMap(({ verb, does, cost }) => [
        `  ${answerCommand(item.id, verb)}`,
        ...labeledLines(world, "      ", `${does}. Costs: ${cost}.`).map(dim),
        ...(verb === "dispute" ? disputableLines(world, item) : []),
      ]),
    ...causeLines(item, all),
    ...(item.story === null ? [] : triageLines(world, item, dim)),
  ];
}

const LABEL_WIDTH = 11;

/** These two answers exist for every question about a story, so they share their lines. */
function triageLines(world: World, { id }: InboxItem, dim: (text: string) => string): string[] {
  const does =
    "defer: not now, the next run asks again. dismiss: nothing to do, the story ends as dismissed. Costs: nothing.";
  return [`  ${answerCommand(id, "defer")} (or dismiss)`, ...labeledLines(world, "      ", does).map(dim)];
}

/** The findings that are still open, with their locations; `remand show` also prints the fixed ones. */
function findingLines(item: InboxItem): string[] {
  const open = openFindings(item);
  const shown = open.slice(0, MOST_FINDINGS).map((finding) => {
    const location = locationText(finding);
    return shortLine(
      `${location === "" ? "" : `${location}: `}${finding.title} (${finding.gate}, ${statusText(finding)})`,
      200,
    );
  });
  return open.length > shown.length ? [...shown, `and ${open.length - shown.length} more`] : shown;
}

/** A dispute needs the id of the finding, which no other part of a question prints. */
function disputableLines(world: World, { disputable }: InboxItem): string[] {
  const shown = disputable
    .slice(0, MOST_FINDINGS)
    .flatMap(({ finding, text }) => labeledLines(world, `      --finding ${finding}  `, shortLine(text, 100)));
  const more = disputable.length - Math.min(disputable.length, MOST_FINDINGS);
  return more === 0 ? shown : [...shown, `      and ${more} more`];
}

const MOST_FINDINGS = 5;
