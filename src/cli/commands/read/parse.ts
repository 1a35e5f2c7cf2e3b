import { resolve } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import { type ReadFinding, type Reading, SIGNAL_ROLES, type SignalRole } from "../../../core/stories/reading.ts";
import { readAgentText } from "../../../parse/agent/agent-text.ts";
import type { ReadingDocument } from "../../../core/schemas/reading.ts";
import { EXIT, type CliCommand, type ExitCode, type World } from "../../../app/command.ts";

interface Options {
  readonly id?: string;
  readonly role?: string;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  remand parse answer.txt --role critic --id checkout-retry    only a critic's signal for this story counts
  my-agent | remand parse - --json                             as a document of the schema remand.reading/1
  remand parse review.json                                     a verdict as JSON or YAML is read as well

Exit code: 0 something was read (a rejection too), 3 nothing that can be relied on, 2 wrong usage.
`;

/** `remand parse`: reads the signal or verdict in an agent's text. */
export const command: CliCommand = {
  name: "parse",
  register(command, world, done) {
    command
      .description("Reads the signal or the verdict out of an agent's text.")
      .usage("[file|-] [options]")
      .argument("[file]", "the file with the text (default, and with -: standard input)", "-")
      .option("--id <story>", "the story it must be about")
      .option("--role <role>", `whose answer it is: ${SIGNAL_ROLES.join(", ")}`)
      .option("--json", "print a document of the schema remand.reading/1")
      .addHelpText("after", EXAMPLES)
      .action(async (file: string, options: Options) => done(await parse(file, options, world)));
  },
};

async function parse(file: string, options: Options, world: World): Promise<ExitCode> {
  const role = roleOf(options.role);
  const text = file === "-" ? await world.stdin() : await world.files.read(resolve(world.cwd, file));
  if (text === null) {
    throw new RemandError(
      "file-missing",
      `there is no file ${file}`,
      "Give a file that exists, or - for the standard input.",
    );
  }
  const reading = readAgentText(text, { id: options.id, role });
  world.out(options.json === true ? `${JSON.stringify(documentOf(reading), null, 2)}\n` : listing(reading));
  return reading.result === "unknown" ? EXIT.rejected : EXIT.ok;
}

function roleOf(word: string | undefined): SignalRole | undefined {
  if (word === undefined) return undefined;
  const role = SIGNAL_ROLES.find((known) => known === word);
  if (role !== undefined) return role;
  throw new RemandError(
    "usage",
    `--role ${word} is not a role that gives signals`,
    `Use one of: ${SIGNAL_ROLES.join(", ")}.`,
  );
}

/** Every key is listed because people see them in this order. */
function documentOf(reading: Reading): ReadingDocument {
  const { kind, signal, id, idMatches, result, findings, requiredFixes, passing, quality, verification } = reading;
  const { commands, environments, preExisting, filesReviewed, filesModified, context, incomplete } = reading;
  const head = { schema: "remand.reading/1", kind, signal, id, idMatches, result } as const;
  const found = {
    findings: findings.map(inOrder),
    requiredFixes,
    passing,
    quality,
    verification,
    commands,
    environments,
  };
  const around = { preExisting, filesReviewed, filesModified, context, incomplete };
  return {
    ...head,
    ...found,
    ...around,
    priority: reading.priority,
    summary: reading.summary,
    problems: reading.problems,
  };
}

function inOrder({
  severity,
  category,
  file,
  line,
  message,
  suggestedFix,
  criterion,
  status,
}: ReadFinding): ReadFinding {
  return { severity, category, file, line, message, suggestedFix, criterion, status };
}

function listing(reading: Reading): string {
  const { signal, id, summary, incomplete, priority } = reading;
  const source =
    reading.kind === "signal"
      ? ` (${signal}: ${id})`
      : reading.kind === "verdict"
        ? " (a verdict as data or in words)"
        : "";
  const lines = [`${reading.result}${source}`];
  if (summary !== null) lines.push(`  ${oneLine(summary)}`);
  if (priority !== null) lines.push(`  priority ${priority}`);
  if (incomplete !== null)
    lines.push(`  blocked by ${oneLine(incomplete.blocker)} (${incomplete.category ?? "no category"})`);
  lines.push(
    ...bulletList("findings", reading.findings.map(findingLine)),
    ...bulletList("required fixes", reading.requiredFixes),
    ...bulletList(
      "criteria",
      reading.verification.map((each) => `${each.criterion}: ${each.status}`),
    ),
    ...bulletList(
      "commands",
      reading.commands.map((each) => [each.command, each.environment, each.result].filter(Boolean).join("  ")),
    ),
    ...bulletList("broken before", reading.preExisting),
    ...bulletList("problems", reading.problems),
  );
  return `${lines.join("\n")}\n`;
}

function bulletList(title: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [`  ${title}:`, ...items.map((item) => `    - ${oneLine(item)}`)];
}

function findingLine({ severity, file, line, message }: ReadFinding): string {
  const place = file === null ? "" : `${file}${line === null ? "" : `:${line}`}: `;
  return `${severity === null ? "" : `[${severity}] `}${place}${message}`;
}

const oneLine = (text: string): string => text.replaceAll("\n", " ").slice(0, 500);
