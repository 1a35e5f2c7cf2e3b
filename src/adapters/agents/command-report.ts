import { isRecord } from "../../stdx/is-record.ts";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { AgentUsage } from "../../ports/agent.ts";
import { readJson } from "../../readers/data-text.ts";
import { messageOf } from "./failed-result.ts";

/** What a program left in its result file. Whatever is missing or wrong there is `null`, and never an error. */
export interface CommandReport {
  readonly text: string | null;
  readonly output: unknown;
  readonly session: string | null;
  readonly tokens: number | null;
  readonly costUsd: number | null;
  /** Which model it was, and its input and output apart, where it says so. */
  readonly usage: AgentUsage | null;
  /** What was wrong with the file, for the person who watches. */
  readonly note: string | null;
  /** Structured output out of what it printed, for a program that left no file. */
  readOutput(stdout: string): unknown;
}

const NOTHING: CommandReport = {
  text: null,
  output: null,
  session: null,
  tokens: null,
  costUsd: null,
  usage: null,
  note: null,
  readOutput,
};

/** A report is a few sentences and numbers; a longer file is not one. */
const MAX_BYTES = 10 * 1024 * 1024;

export async function readReport(path: string): Promise<CommandReport> {
  const read = await readFileOf(path);
  if ("note" in read) return { ...NOTHING, note: read.note };
  if (read.text.trim() === "") return NOTHING;
  const data = dataIn(read.text);
  // Text that is no JSON is what the program says, as if it had printed it.
  if (data === null) return { ...NOTHING, text: read.text, note: "its result file is not JSON; it was taken as text" };
  return reportOf(data);
}

type Data = Readonly<Record<string, unknown>>;

function reportOf(data: Data): CommandReport {
  const wrong: string[] = [];
  const field = <T>(name: string, read: (value: unknown) => T | null): T | null => {
    const value = data[name] ?? null;
    const good = value === null ? null : read(value);
    if (value !== null && good === null) wrong.push(name);
    return good;
  };
  const report = {
    text: field("text", textOf),
    output: data["output"] ?? null,
    session: field("session", (value) => textOf(isRecord(value) ? value["id"] : value)),
    tokens: field("usage", tokensOf) ?? field("tokens", amountOf),
    costUsd: field("costUsd", amountOf),
    usage: usageIn(data),
  };
  const note = wrong.length === 0 ? null : `its result file has no usable ${wrong.join(", ")}`;
  return { ...report, note, readOutput };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function amountOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

/** One number, a total, or parts that add up. */
function tokensOf(usage: unknown): number | null {
  if (!isRecord(usage)) return amountOf(usage);
  const total = amountOf(usage["tokens"] ?? usage["totalTokens"] ?? usage["total_tokens"]);
  if (total !== null) return Math.round(total);
  const parts = TOKEN_PARTS.flatMap((name) => amountOf(usage[name]) ?? []);
  return parts.length === 0 ? null : Math.round(parts.reduce((sum, part) => sum + part, 0));
}

const TOKEN_PARTS = ["inputTokens", "outputTokens", "input_tokens", "output_tokens", "input", "output"];

/** In whichever way of writing it; what it read from a cache is part of the input. */
function usageIn(data: Data): AgentUsage | null {
  const used = isRecord(data["usage"]) ? data["usage"] : {};
  const first = (...names: readonly string[]): number | null => amountOf(names.map((name) => used[name]).find(isGiven));
  const model = textOf(data["model"] ?? used["model"]);
  const input = first("inputTokens", "input_tokens", "input");
  const output = first("outputTokens", "output_tokens", "output");
  const cached = first("cachedTokens", "cached_input_tokens", "cached");
  const usage: AgentUsage = {
    ...(model === null ? {} : { model }),
    ...(input === null ? {} : { inputTokens: Math.round(input) }),
    ...(output === null ? {} : { outputTokens: Math.round(output) }),
    ...(cached === null ? {} : { cachedTokens: Math.round(cached) }),
  };
  return Object.keys(usage).length === 0 ? null : usage;
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

function readOutput(stdout: string): unknown {
  const data = stdout.length > MAX_BYTES ? null : readJson(stdout.trim());
  return data?.ok === true && typeof data.value === "object" ? data.value : null;
}

function dataIn(text: string): Data | null {
  const data = readJson(text.trim());
  return data.ok && !data.cut && isRecord(data.value) ? data.value : null;
}

/**
 * The file was written by a program we do not trust: a link may lead anywhere, and a pipe may never end. So neither
 * is followed, and what is read is counted.
 */
async function readFileOf(path: string): Promise<{ text: string } | { note: string }> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size, isFile } = await file.stat().then((stat) => ({ size: stat.size, isFile: stat.isFile() }));
      if (!isFile) return { note: "its result file is not a plain file; it was not read" };
      if (size > MAX_BYTES)
        return { note: `its result file is larger than ${MAX_BYTES / 1024 / 1024} MB; it was not read` };
      return { text: await file.readFile("utf8") };
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "ENOENT") return { text: "" };
    if (code === "ELOOP") return { note: "its result file is a link; it was not read" };
    return { note: `its result file could not be read: ${messageOf(error)}` };
  }
}
