import { leftovers } from "../../src/adapters/process/leftovers.ts";
import type { Behavior } from "../contract/agent.ts";
import { clientVersion } from "./installed-clients.ts";
import type { ModelRequest, Reply } from "../../src/testing/wire.ts";
import type { ModelServer } from "../../src/testing/model-server.ts";

/** How each client's model writes a file and gives a structured answer: by tools of the client. */
export interface Hands {
  write(path: string, text: string): Reply;
  shell(command: string): Reply;
  answer(answers: object): Reply;
  readonly troubles: Readonly<Record<Exclude<Behavior["ends"], Untold>, Reply>>;
}

/** Endings that are the same for all clients. */
type Untold = undefined | "well" | "hang" | "crash" | "garbled";

/** Makes the model behave as described. Crashes of the client itself are made in another way. */
export function play(server: ModelServer, { writes, says, ends, answers }: Behavior, hands: Hands): void {
  server.script(({ step }: ModelRequest): Reply => {
    if (ends === "hang") return { hangs: true };
    if (ends === "garbled") return { garbles: "<html><body>502 Bad Gateway</body></html>" };
    if (ends !== undefined && ends !== "well" && ends !== "crash") return hands.troubles[ends];
    if (writes !== undefined && step === 0) return hands.write(writes.path, writes.text);
    if (answers !== undefined) return hands.answer(answers);
    return { says: says ?? "done" };
  });
}

/** The tools of Claude Code, and of an agent that drives it. Their structured answers differ. */
export const CLAUDE_HANDS: Omit<Hands, "answer"> = {
  write: (path, text) => ({ calls: "Write", input: { file_path: path, content: text } }),
  shell: (command) => ({ calls: "Bash", input: { command, description: "a command" } }),
  troubles: {
    auth: { fails: 401 },
    overloaded: { fails: 529 },
    "bad-request": { fails: 404, type: "not_found_error", message: "model: no such model" },
    "rate-limit": { fails: 429, retryAfterSeconds: 120 },
    refused: { refuses: "I will not" },
    credit: { fails: 400, message: "Your credit balance is too low to access the Anthropic API." },
    "context-length": { fails: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" },
  },
};

/** Names dispatches, and finds their leftover processes. */
export function createCookies(): { of(): string; left(): Promise<number> } {
  const cookies: string[] = [];
  return {
    of() {
      const cookie = `agent-${process.pid}-${cookies.length}-${Math.random().toString(36).slice(2)}`;
      cookies.push(cookie);
      return cookie;
    },
    async left() {
      return (await Promise.all(cookies.splice(0).map((cookie) => leftovers(cookie)))).flat().length;
    },
  };
}

/** Returns the prompts in the newest request, without the client's additions. */
export function promptsIn(request: ModelRequest | undefined): readonly string[] {
  if (request === undefined) return [];
  const body = JSON.parse(request.text) as { messages?: readonly Turn[]; input?: readonly Turn[] };
  return (body.messages ?? body.input ?? [])
    .filter(({ role }) => role === "user")
    .map(({ content }) => (typeof content === "string" ? content : (content.at(-1)?.text ?? "")))
    .filter((text) => text !== "" && !text.trimEnd().endsWith(">"));
}

interface Turn {
  readonly role?: string;
  readonly content: string | readonly { readonly text?: string }[];
}

/** Returns what Claude Code computes as the cost of one answer: its price table changes with its version. */
export function claudeAnswerUsd(): number {
  return clientVersion("claude") === "2.1.197" ? 0.007 : 0.0056;
}
