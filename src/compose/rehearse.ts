import { RemandError } from "../core/events/error.ts";
import type { RehearsalPart } from "../core/schemas/agent-script.ts";
import type { RehearsalReport, RehearsePlan } from "../app/host-plans.ts";
import { runProcess } from "../adapters/process/run-process.ts";
import { startModelServer } from "../testing/model-server.ts";
import type { ModelRequest, Reply } from "../testing/wire.ts";

/** Runs a command with a scripted model on this machine: clients find it through the variables of their provider. */
export async function rehearse(
  root: string,
  { parts, command, signal, onLine }: RehearsePlan,
  env: Readonly<Record<string, string | undefined>>,
): Promise<RehearsalReport> {
  const model = await startModelServer();
  try {
    const played = playParts(parts);
    model.script(played.next);
    const set = Object.entries({ ...env, ...model.env }).filter(
      (each): each is [string, string] => each[1] !== undefined,
    );
    const words = command.map((word) => word.replaceAll("{codexArgs}", JSON.stringify(model.codexArgs)));
    const [program = "", ...args] = words;
    const main = process.argv[1];
    const isOwn = program === "remand" && main !== undefined;
    const ended = await runProcess(
      {
        command: isOwn ? [process.execPath, main, ...args] : [program, ...args],
        cwd: root,
        env: Object.fromEntries(set),
        timeoutMs: Infinity,
        sandbox: null,
      },
      { signal, onLine },
    );
    if (ended.failure !== null)
      throw new RemandError("usage", ended.failure.message, "Give a command after --: -- remand loop …");
    const { requests, unexpected } = model;
    return { exitCode: ended.exitCode, requests: requests.length, unexpected, left: played.left() };
  } finally {
    await model.close();
  }
}

/** Serves each part's own replies, one per request that matches the part. */
function playParts(parts: readonly RehearsalPart[]): { next(request: ModelRequest): Reply; left(): number } {
  const queues = parts.map(({ match, replies }) => ({ match, replies: [...replies] as Reply[] }));
  return {
    next(request) {
      const fitting = queues.filter(
        ({ match }) =>
          (match?.api === undefined || match.api === request.api) &&
          (match?.prompt === undefined || request.prompt.includes(match.prompt)),
      );
      const reply = fitting.find(({ replies }) => replies.length > 0)?.replies.shift();
      if (reply !== undefined) return withNonce(reply, request);
      throw new Error(`the script has no reply left for a request of ${request.api} in round ${request.round}`);
    },
    left: () => queues.reduce((sum, { replies }) => sum + replies.length, 0),
  };
}

/** A verdict in a message counts only with the nonce of its prompt, so `{nonce}` is replaced by it. */
function withNonce(reply: Reply, { prompt }: ModelRequest): Reply {
  const nonce = /nonce of this prompt: `(\w+)`/.exec(prompt)?.[1];
  return "says" in reply && nonce !== undefined ? { ...reply, says: reply.says.replaceAll("{nonce}", nonce) } : reply;
}
