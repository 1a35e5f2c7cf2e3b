import { RemandError } from "../core/events/error.ts";
import type { GateReport } from "../core/gates/gate-report.ts";
import type { PrintedLine } from "../views/run/printed-lines.ts";
import type { Story } from "../core/stories/story.ts";
import type { StoredEvent } from "../ports/journal.ts";
import { nearMiss } from "../stdx/plain-text.ts";
import { type BoardRow, boardRows } from "../views/board/board.ts";
import type { Flake } from "../views/board/flakes.ts";
import type { CostRow } from "../views/board/cost.ts";
import type { InboxItem } from "../views/answers/inbox.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { RunOutline } from "../core/stories/run-state.ts";
import { forecastOf } from "../views/board/ledger.ts";
import { runCounts } from "../views/run/run-summary.ts";
import { exitCodeOf } from "../app/command.ts";

/** Lists every field of a type once: a new or renamed field that is missing here does not compile. */
type FieldsOf<T> = { readonly [K in keyof T]-?: true };

const ROW: FieldsOf<BoardRow> = {
  id: true,
  title: true,
  status: true,
  actor: true,
  why: true,
  phase: true,
  gate: true,
  attempt: true,
  attempts: true,
  attemptLimit: true,
  gates: true,
  costUsd: true,
  costUnknown: true,
  costLimitUsd: true,
  timeMs: true,
  escalation: true,
  since: true,
  isPaused: true,
  isDeferred: true,
};

const ITEM: FieldsOf<InboxItem> = {
  id: true,
  story: true,
  title: true,
  kind: true,
  reason: true,
  assessment: true,
  recommendation: true,
  question: true,
  cause: true,
  attempts: true,
  disputable: true,
  answers: true,
  deferred: true,
};

const FLAKE: FieldsOf<Flake> = {
  name: true,
  test: true,
  file: true,
  check: true,
  times: true,
  firstSeenAt: true,
  lastSeenAt: true,
  stories: true,
  trees: true,
};

const COST: FieldsOf<CostRow> = {
  name: true,
  costUsd: true,
  costUnknown: true,
  tokens: true,
  timeMs: true,
  times: true,
  wastedUsd: true,
  wastedUnknown: true,
};

const STORY: FieldsOf<Story> = {
  id: true,
  title: true,
  priority: true,
  kind: true,
  labels: true,
  dependsOn: true,
  criteria: true,
  shelf: true,
  body: true,
  completed: true,
  maxReworks: true,
  target: true,
  tests: true,
  role: true,
  oracle: true,
  branch: true,
};

const LINE: FieldsOf<StoredEvent> = {
  v: true,
  position: true,
  seq: true,
  at: true,
  story: true,
  event: true,
  hash: true,
};

const PRINTED: FieldsOf<PrintedLine> = { at: true, story: true, attempt: true, step: true, text: true };

const REPORT: FieldsOf<GateReport> = {
  judged: true,
  judgements: true,
  skipped: true,
  licensed: true,
  licenseNotes: true,
};

/** Fields that can be selected in a command's document: of each entry if it is a list, else of the document. */
export const JSON_FIELDS = {
  status: Object.keys(ROW),
  top: Object.keys(ROW),
  inbox: Object.keys(ITEM),
  cost: Object.keys(COST),
  flakes: Object.keys(FLAKE),
  stories: Object.keys(STORY),
  log: Object.keys(LINE),
  logs: Object.keys(PRINTED),
  gate: ["exit", "passed", ...Object.keys(REPORT)],
  show: [
    "row",
    "story",
    "criteria",
    "branch",
    "commit",
    "spent",
    "preExisting",
    "timeline",
    "reJudged",
    "waivers",
    "disputes",
    "escalation",
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type FieldCommand = keyof typeof JSON_FIELDS;

/** The option in commander's syntax. */
export const JSON_OPTION = "--json [fields]";
export const fieldsHelp = (command: FieldCommand): string =>
  `\nFields of --json, to be picked as in --json ${JSON_FIELDS[command].slice(0, 2).join(",")}:\n  ${JSON_FIELDS[command].join(", ")}\n`;

/** The value of --json: `false` if it is absent, `null` for the whole document, else the selected fields. */
export function pickedFields(
  command: FieldCommand,
  typed: string | boolean | undefined,
): readonly string[] | null | false {
  if (typed === undefined || typed === false) return false;
  if (typed === true) return null;
  const known: readonly string[] = JSON_FIELDS[command];
  const fields = typed.split(",").map((field) => field.trim());
  const wrong = fields.find((field) => !known.includes(field));
  if (wrong === undefined) return fields;
  const meant = nearMiss(wrong, known);
  throw new RemandError(
    "usage",
    `remand ${command} --json has no field "${wrong}"`,
    `${meant === undefined ? "" : `Did you mean ${meant}? `}There are ${known.join(", ")}.`,
  );
}

/** Returns the selected fields of an object, in the order in which they were typed. */
export function pickFields(thing: object, fields: readonly string[] | null): object {
  if (fields === null) return thing;
  const has = thing as Readonly<Record<string, unknown>>;
  return Object.fromEntries(fields.map((field) => [field, has[field] ?? null]));
}

/**
 * Tells fields from arguments after `--json`: in `--json id,status` the next word lists fields; in `status --json
 * checkout-retry` it is a story. A word that is not a field stays where it is, and --json moves to the end, where no
 * word follows.
 */
export function withFieldsJoined(argv: readonly string[]): readonly string[] {
  const at = argv.indexOf("--json");
  const end = argv.includes("--") ? argv.indexOf("--") : argv.length;
  const word = argv[at + 1];
  if (at === -1 || at + 1 >= end || word === undefined || word.startsWith("-")) return argv;
  const command = argv.find((each): each is FieldCommand => Object.hasOwn(JSON_FIELDS, each));
  // The only word before the command is the command itself.
  if (command === undefined || argv.indexOf(command) > at) return argv;
  const known: readonly string[] = JSON_FIELDS[command];
  const areFields = !TAKE_WORDS.has(command) || word.includes(",") || known.includes(word);
  if (areFields) return [...argv.slice(0, at), `--json=${word}`, ...argv.slice(at + 2)];
  return [...argv.slice(0, at), ...argv.slice(at + 1, end), "--json", ...argv.slice(end)];
}

/** Commands that take stories or gates as arguments. */
const TAKE_WORDS: ReadonlySet<FieldCommand> = new Set(["status", "show", "gate", "logs"]);

/** The state of a run as a JSON document. */
export function runDocument(run: RunOutline, asked: readonly StoryId[] | null, schema = "remand.run/1"): object {
  return {
    schema,
    exit: exitCodeOf(run, asked),
    counts: runCounts(run, asked),
    spent: run.spent,
    forecast: forecastOf(run, asked),
    question: run.escalation,
    stories: boardRows(run, asked),
  };
}
