import { resolve } from "node:path";
import type { Command } from "commander";
import type { Brief } from "../../domain/brief.ts";
import { RemandError } from "../../domain/error.ts";
import { BRIEF_DOCUMENT, readBriefDocument } from "../../schemas/brief.ts";
import { canonicalJson } from "../../stdx/canonical-json.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { DEFAULT_BRIEF_CHARS, SMALLEST_BRIEF_CHARS, writeBriefWithCuts } from "../../writers/brief.ts";
import { NONCE_PATTERN } from "../../writers/untrusted-text.ts";
import { EXIT, type CliCommand, type World } from "../command.ts";
import { keptBrief } from "../kept-brief.ts";
import { numberOf } from "../option-values.ts";

/** `remand brief`: the text that goes back to an agent, from a document that any orchestrator can write. */
export const command: CliCommand = {
  name: "brief",
  summary: "write the brief that goes back to an agent",
  register(commander: Command, world, done) {
    commander
      .usage("<story> [options] | --from <file> [options]")
      .argument("[story]", "a story whose work was sent back")
      .option("--attempt <number>", "the brief that this attempt of the story got (default: the newest)")
      .option("--next", "the brief that the next attempt of the story will get")
      .option("--from <file>", `the document to write it from ("schema": "${BRIEF_DOCUMENT}"); - is the standard input`)
      .option("--nonce <text>", "the mark of the fences, 8 to 64 letters and digits (default: made from the document)")
      .option("--max-chars <number>", `how long it may be (default: ${DEFAULT_BRIEF_CHARS})`)
      .option("--json", "print a document with the text and what was left out of it")
      .addHelpText("before", EXAMPLES)
      .action(async (story: string | undefined, options: Options) => {
        await (story === undefined ? printBrief(options, world) : printKept(story, options, world));
        done(EXIT.ok);
      });
  },
};

interface Options {
  readonly attempt?: string;
  readonly next?: boolean;
  readonly from?: string;
  readonly nonce?: string;
  readonly maxChars?: string;
  readonly json?: boolean;
}

const EXAMPLES = `Examples:
  remand brief checkout-retry                 what was sent back to the agent last
  remand brief checkout-retry --attempt 2     what attempt 2 was told
  remand brief --from context.json
  my-orchestrator context | remand brief --from - --max-chars 20000 --json
`;

/** What was sent, to the byte. */
async function printKept(story: string, options: Options, world: World): Promise<void> {
  if (options.from !== undefined) {
    throw new RemandError("usage", "a brief is of a story or from a document, not both", "Leave one of the two out.");
  }
  if (options.attempt !== undefined && options.next === true) {
    throw new RemandError("usage", "--attempt and --next are two different briefs", "Leave one of the two out.");
  }
  const attempt = options.attempt === undefined ? "newest" : numberOf("--attempt", options.attempt, 1, 100_000);
  const { text, ...about } = await keptBrief(world, story, options.next === true ? "next" : attempt);
  if (options.json === true)
    world.out(`${JSON.stringify({ schema: "remand.brief-text/1", ...about, text, cuts: [] }, null, 2)}\n`);
  else world.out(text.endsWith("\n") ? text : `${text}\n`);
}

async function printBrief(options: Options, world: World): Promise<void> {
  const maxChars = maxCharsOf(options.maxChars);
  const from = sourceOf(options.from);
  const brief = readBrief(await textOf(from, world), from === "-" ? "the standard input" : from);
  const nonce = options.nonce === undefined ? nonceFrom(brief) : nonceOf(options.nonce);
  const { text, cuts } = writeBriefWithCuts(brief, { nonce, maxChars });
  world.out(
    options.json === true ? `${JSON.stringify({ schema: "remand.brief-text/1", text, cuts }, null, 2)}\n` : text,
  );
  if (options.json !== true) for (const cut of cuts) world.err(`remand: ${cut}\n`);
}

/**
 * Made from the content, so that the same document gives the same bytes. Text that knew its own brief's nonce would
 * have to contain a hash of itself.
 */
function nonceFrom(brief: Brief): string {
  return sha256(canonicalJson(brief)).slice(0, 16);
}

function sourceOf(from: string | undefined): string {
  if (from !== undefined) return from;
  throw new RemandError(
    "usage",
    "nothing to write a brief from",
    "Name a story, or give a document: remand brief --from context.json",
  );
}

async function textOf(from: string, world: World): Promise<string> {
  const text = from === "-" ? await world.stdin() : await world.files.read(resolve(world.cwd, from));
  if (text !== null) return text;
  throw new RemandError(
    "file-missing",
    `there is no file ${from}`,
    "Give --from a file that exists, or - for the standard input.",
  );
}

function readBrief(text: string, where: string): Brief {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new RemandError(
      "input-invalid",
      `${where} is not JSON: ${detail}`,
      `It must be one document with "schema": "${BRIEF_DOCUMENT}".`,
      {
        cause,
      },
    );
  }
  const read = readBriefDocument(value);
  if ("brief" in read) return read.brief;
  const problems = read.problems.slice(0, MOST_PROBLEMS);
  const more = read.problems.length > MOST_PROBLEMS ? [`and ${read.problems.length - MOST_PROBLEMS} more`] : [];
  throw new RemandError(
    "input-invalid",
    [`${where} is not a brief:`, ...problems, ...more].join("\n  "),
    `Only "schema": "${BRIEF_DOCUMENT}" and story.id are needed; everything else has a default.`,
  );
}

const MOST_PROBLEMS = 20;

function nonceOf(text: string): string {
  if (NONCE_PATTERN.test(text)) return text;
  throw new RemandError(
    "usage",
    "--nonce has 8 to 64 letters and digits",
    "Leave it out to have one made from the document.",
  );
}

function maxCharsOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_BRIEF_CHARS;
  if (/^\d{1,9}$/.test(text) && Number(text) >= SMALLEST_BRIEF_CHARS) return Number(text);
  throw new RemandError(
    "usage",
    `--max-chars ${text} is not a number of at least ${SMALLEST_BRIEF_CHARS}`,
    "Shorter than that, the headings and the scope alone would not fit.",
  );
}
