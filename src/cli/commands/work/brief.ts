import { resolve } from "node:path";
import type { Command } from "commander";
import { RemandError } from "../../../core/events/error.ts";
import { BRIEF_DOCUMENT } from "../../../core/schemas/brief.ts";
import { DEFAULT_BRIEF_CHARS } from "../../../write/briefs/brief.ts";
import { writeBriefFromDocument } from "../../../app/brief-document.ts";
import { EXIT, type CliCommand, type World } from "../../../app/command.ts";
import { keptBrief } from "../../kept-brief.ts";
import { parseNumber } from "../../../app/option-values.ts";

/** `remand brief`: writes the text that goes back to an agent, from a document that any orchestrator can produce. */
export const command: CliCommand = {
  name: "brief",
  register(commander: Command, world, done) {
    commander
      .usage("<story> [options] | --from <file> [options]")
      .argument("[story]", "a story whose work was sent back")
      .option("--attempt <number>", "the brief that this attempt of the story got (default: the newest)")
      .option("--next", "the brief that the next attempt of the story will get")
      .option("--from <file>", `the document to write it from ("schema": "${BRIEF_DOCUMENT}"); - is the standard input`)
      .option("--nonce <text>", "the mark of the fences, 8 to 64 letters and digits (default: made from the document)")
      .option(
        "--max-chars <number>",
        `how long it may be (default: ${DEFAULT_BRIEF_CHARS}, about 4,000 tokens, and the role's prompt)`,
      )
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

/** Prints a stored brief exactly as it was sent. */
async function printKept(story: string, options: Options, world: World): Promise<void> {
  if (options.from !== undefined) {
    throw new RemandError("usage", "a story and --from exclude each other", "Leave one of the two out.");
  }
  if (options.attempt !== undefined && options.next === true) {
    throw new RemandError("usage", "--attempt and --next exclude each other", "Leave one of the two out.");
  }
  const attempt = options.attempt === undefined ? "newest" : parseNumber("--attempt", options.attempt, 1, 100_000);
  const { text, ...about } = await keptBrief(world, story, options.next === true ? "next" : attempt);
  if (options.json === true)
    world.out(`${JSON.stringify({ schema: "remand.brief-text/1", ...about, text, cuts: [] }, null, 2)}\n`);
  else world.out(text.endsWith("\n") ? text : `${text}\n`);
}

async function printBrief(options: Options, world: World): Promise<void> {
  const maxChars = options.maxChars === undefined ? undefined : digits(options.maxChars);
  const from = sourceOf(options.from);
  const where = from === "-" ? "the standard input" : from;
  const document = jsonOf(await textOf(from, world), where);
  const { text, cuts } = writeBriefFromDocument(document, where, { nonce: options.nonce, maxChars }, FLAGS);
  world.out(
    options.json === true ? `${JSON.stringify({ schema: "remand.brief-text/1", text, cuts }, null, 2)}\n` : text,
  );
  if (options.json !== true) for (const cut of cuts) world.err(`remand: ${cut}\n`);
}

const FLAGS = { nonce: "--nonce", maxChars: "--max-chars" };
const digits = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : NaN);

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

function jsonOf(text: string, where: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new RemandError(
      "input-invalid",
      `${where} is not JSON: ${detail}`,
      `It must be one document with "schema": "${BRIEF_DOCUMENT}".`,
      { cause },
    );
  }
}
