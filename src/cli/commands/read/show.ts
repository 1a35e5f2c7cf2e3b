import { resolve } from "node:path";
import { countText } from "../../../stdx/plain-text.ts";
import type { RunOutline } from "../../../core/stories/run-state.ts";
import type { StoryState } from "../../../core/stories/story-state.ts";
import { readStoredTexts } from "../../../engine/stored-texts.ts";
import { withoutSecrets } from "../../../parse/secrets/secrets.ts";
import { boardRows, gateStrip, stateText, stripText } from "../../../views/board/board.ts";
import { timeText, zonedTime } from "../../../views/run/event-text.ts";
import { recheckText, rechecks } from "../../../views/story/recheck.ts";
import { storyDocument, criteriaText, criterionCards } from "../../../views/story/story-document.ts";
import { storyHtml } from "../../../views/story/story-html.ts";
import { storyLine, timelineOf } from "../../../views/story/story-lines.ts";
import { authorText, durationText, shortLine, spentText } from "../../../views/text/words.ts";
import type { StoredEvent } from "../../../ports/journal.ts";
import { writeEscalation } from "../../../write/reports/escalation.ts";
import { type CliCommand, EXIT, type World } from "../../../app/command.ts";
import { JSON_OPTION, fieldsHelp, pickFields, pickedFields } from "../../json-fields.ts";
import { loadConfig, shownPath } from "../../../app/load-config.ts";
import { linesOf, collectLines, withJournal, withStory, storyOf } from "../../../app/with-journal.ts";
import { labeledLines } from "../../table.ts";
import { glyphsFor, paintFor } from "../../terminal-kind.ts";

const EXAMPLES = `Examples:
  remand show checkout-retry          what happened: attempts, gates, findings, decisions, and what is next
  remand show checkout-retry --json   as a document for programs
  remand show checkout-retry --json commit,timeline
  remand show checkout-retry --html story.html      everything in one file, for people without Remand
`;

export const command: CliCommand = {
  name: "show",
  register(command, world, done) {
    command
      .usage("<story> [options]")
      .argument("<story>", "the story's id")
      .option(JSON_OPTION, "print a document of the schema remand.show/1, or these fields of it")
      .option("--html <file>", "write one self-contained HTML file that opens offline")
      .addHelpText("before", EXAMPLES)
      .addHelpText("after", fieldsHelp("show"))
      .action(async (story: string, options: { readonly json?: boolean | string; readonly html?: string }) => {
        if (options.html === undefined) await show(world, story, pickedFields("show", options.json));
        else await write(world, story, options.html);
        done(EXIT.ok);
      });
  },
};

export async function show(world: World, typed: string, fields: readonly string[] | null | false): Promise<void> {
  await withStory(world, typed, async (view, state) => {
    const { run } = view;
    const lines = await collectLines(view.lines(state.story.id));
    world.out(
      fields === false
        ? text(world, run, state, lines)
        : `${JSON.stringify({ schema: "remand.show/1", ...pickFields(document(run, state, lines), fields) }, null, 2)}\n`,
    );
  });
}

async function write(world: World, typed: string, file: string): Promise<void> {
  const { config } = await loadConfig(world, {});
  const patterns = (config?.redact ?? []).map((pattern) => ({ kind: "listed", pattern: new RegExp(pattern, "g") }));
  const html = await withJournal(world, async (view) => {
    const state = storyOf(view.state, typed);
    const lines = await linesOf(view, state.story.id);
    const storyLines = lines.map(storyLine);
    const texts = await readStoredTexts(storyLines, view.evidence);
    const paper = { document: storyDocument(view.state, state, lines), lines: storyLines, texts, at: world.now() };
    return storyHtml(withoutSecrets(paper, { patterns }));
  });
  const path = resolve(world.cwd, file);
  await world.files.write(path, world.host.clean(html));
  world.out(`${shownPath(world, path)}\n`);
}

function document(run: RunOutline, state: StoryState, lines: readonly StoredEvent[]): object {
  const { story, escalation, waivers, disputes, preExisting, commit, spent } = state;
  return {
    row: boardRows(run, [story.id])[0],
    story,
    criteria: criterionCards(state),
    branch: `remand/${story.id}`,
    commit,
    spent,
    preExisting,
    timeline: timelineOf(lines),
    reJudged: rechecks(lines, state.policy),
    waivers,
    disputes,
    escalation,
  };
}

function text(world: World, run: RunOutline, state: StoryState, lines: readonly StoredEvent[]): string {
  const glyphs = glyphsFor(world.env);
  const paint = paintFor(world.color);
  const { story, spent, commit } = state;
  const row = boardRows(run, [story.id])[0]!;
  const money = spentText(spent, state.raised.cost ?? state.policy?.limits.story.costUsd ?? null);
  const facts = [
    countText(state.attempts.length, "attempt"),
    ...(money === "" ? [] : [money]),
    durationText(spent.timeMs),
    // A loop works in place: it has commits and no branch.
    ...(commit === ""
      ? []
      : [`${story.kind === "loop" ? "" : `branch remand/${story.id} at `}commit ${commit.slice(0, 12)}`]),
  ];
  const again = recheckText(rechecks(lines, state.policy));
  const strip = stripText(gateStrip(state), glyphs);
  return [
    `${paint.strong(story.id)}  ${shortLine(story.title, 120)}`,
    ...labeledLines(world, `${glyphs.marks[stateText(row).mark]} ${stateText(row).word}: `, shortLine(row.why, 200)),
    facts.join(` ${glyphs.dot} `),
    ...(story.criteria.length === 0 ? [] : ["", "Criteria", ...criteriaText(state)]),
    "",
    ...timelineText(world, timelineOf(lines)),
    ...(again.length === 0 ? [] : ["", "Gates that ran again, and results that were kept", ...again]),
    ...(strip === "" ? [] : ["", `Gates  ${strip}`]),
    ...state.waivers.map(
      (waiver) => `Waived  ${waiver.gate} by ${authorText(waiver)}: ${shortLine(waiver.reason, 160)}`,
    ),
    "",
    next(world, run, state),
    "",
  ].join("\n");
}

/** Formats the events of a story. The UTC offset is printed once, so that each line has room for its text. */
function timelineText(world: World, events: ReturnType<typeof timelineOf>): string[] {
  const { marks } = glyphsFor(world.env);
  const { dim } = paintFor(world.color);
  const offset = events[0] === undefined ? "Z" : zonedTime(events[0].at, world.zone).offset;
  return [
    `What happened (times are UTC${offset === "Z" ? "" : offset})`,
    ...events.flatMap(({ at, mark, text, details }) => {
      const { time } = zonedTime(at, world.zone);
      const [first, ...more] = labeledLines(world, `  ${time}  ${marks[mark]} `, text);
      const below = details.flatMap((detail) => labeledLines(world, " ".repeat(DETAIL_INDENT), detail));
      return [first!.replace(time, dim(time)), ...more, ...below.map(dim)];
    }),
  ];
}

const DETAIL_INDENT = 26;

/** Describes the next step, and what a person can do now. */
function next(world: World, run: RunOutline, state: StoryState): string {
  const { story, escalation, ending, wait, attempts } = state;
  if (escalation !== null) return writeEscalation(escalation, story).trimEnd();
  if (run.engine !== undefined && ending === null) return `Next: remand run continues it (no engine runs).`;
  if (ending !== null) return `It is over. remand diff ${story.id} shows the work.`;
  if (wait?.type === "time") {
    const pause = durationText(Math.max(0, wait.until - world.now()));
    return `Next: again at ${timeText(wait.until, world.zone)}, in ${pause} (${shortLine(wait.why, 120)})`;
  }
  if (state.rework !== null) return `Next: attempt ${attempts.length + 1}; its brief: remand brief ${story.id} --next`;
  return state.running === null
    ? "Next: remand run continues it."
    : `Now: ${state.running.type} since ${timeText(state.running.since, world.zone)}`;
}
