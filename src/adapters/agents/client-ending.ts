import type { AgentSession } from "../../domain/session.ts";
import type { AgentError, AgentResult } from "../../ports/agent.ts";
import type { ProcessResult } from "../process/run-process.ts";
import type { Client, Heard } from "./client.ts";
import { usageOf } from "./client-usage.ts";
import { exitError, lastWords } from "./exit-code.ts";
import { totalsWithParts, usageOfParts } from "./token-parts.ts";

/** What a dispatch came to: by what was heard, and where nothing was heard of its end, by how the program ended. */
export function resultOf(
  client: Client,
  ended: ProcessResult,
  heard: Heard,
  before: AgentSession | null,
  stopped: AgentError | null,
): AgentResult {
  const wasEnded = stopped === null && (ended.status === "timeout" || ended.status === "cancelled");
  const error = wasEnded ? null : (stopped ?? heard.error ?? (heard.isOver ? null : silence(client, ended)));
  const id = heard.session ?? before?.id ?? null;
  const earlier = id === before?.id ? before?.totals : undefined;
  const { used, totals: counted } = usageOf(heard.counted, earlier);
  const totals = totalsWithParts(counted, heard.parts);
  return {
    status: wasEnded ? ended.status : error === null ? "completed" : "failed",
    session: id === null ? null : { agent: client.name, id, ...(totals === undefined ? {} : { totals }) },
    text: heard.text,
    output: heard.output,
    tokens: used?.tokens ?? null,
    costUsd: used?.costUsd ?? null,
    denied: heard.denied,
    error,
    durationMs: ended.durationMs,
    ...usageOfParts(heard.parts, used?.tokens ?? null, earlier),
  };
}

/** It ended and did not say how it went. */
function silence(client: Client, ended: ProcessResult): AgentError {
  const { name } = client;
  if (ended.failure !== null) return { kind: "launch", message: ended.failure.message, fix: client.install };
  if (ended.signal !== null) return { kind: "crash", message: `${name} was ended by ${ended.signal}` };
  if (TOO_OLD.test(ended.stderr)) {
    const message = `${name} does not know how it was called: ${lastWords(ended.stderr)}`;
    return { kind: "bad-request", message, fix: `bring ${name} up to date, or correct \`args\`` };
  }
  const said = ended.stderr.trim() === "" ? ended.stdout : ended.stderr;
  return (
    exitError(name, ended.exitCode ?? 0, said) ?? {
      kind: "crash",
      message: `${name} ended without a result: ${lastWords(said)}`,
    }
  );
}

const TOO_OLD = /unknown option|unexpected argument|unrecognized (?:option|subcommand)|invalid value .* for '--/i;

export function notFound({ name, install }: Client, command: string | undefined): AgentError {
  const message = command === undefined ? `there is no ${name} on this machine` : `there is no program ${command}`;
  return { kind: "launch", message, fix: install };
}
