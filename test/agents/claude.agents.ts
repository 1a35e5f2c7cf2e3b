import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClaudeAgent } from "../../src/adapters/agents/claude-agent.ts";
import type { ClientAgentOptions } from "../../src/adapters/agents/client-agent.ts";
import { describeAgent } from "../contract/agent.ts";
import { claudeAnswerUsd, createCookies, play, promptsIn, type Hands } from "./client-under-test.ts";
import { describeConfinement } from "./confinement.ts";
import { clientProgram, makeHome, removeHome } from "./installed-clients.ts";
import { startModelServer, type ModelServer } from "../../src/testing/model-server.ts";

const cookies = createCookies();
let server: ModelServer;
let home: string;

beforeAll(async () => {
  server = await startModelServer();
  home = makeHome();
});
afterAll(async () => {
  await server.close();
  removeHome(home);
});

const hands: Hands = {
  write: (path, text) => ({ calls: "Write", input: { file_path: path, content: text } }),
  shell: (command) => ({ calls: "Bash", input: { command, description: "a command" } }),
  answer: (answers) => ({ calls: "StructuredOutput", input: answers }),
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

const source = () => ({
  PATH: process.env["PATH"],
  HOME: home,
  ANTHROPIC_BASE_URL: server.url,
  ANTHROPIC_API_KEY: "none-of-your-business",
});

function make(options: Partial<ClientAgentOptions>) {
  return createClaudeAgent({
    command: clientProgram("claude"),
    root: home,
    environment: { source: source(), sees: [] },
    cookieOf: cookies.of,
    ...options,
  });
}

describe("real claude", () => {
  describeAgent("claude", {
    make(behaviour) {
      play(server, behaviour, hands);
      return make(behaviour.ends === "crash" ? { command: "false" } : {});
    },
    leftovers: cookies.left,
    client: {
      answer: { tokens: 1000, costUsd: claudeAnswerUsd() },
      troubles: ["rate-limit", "refused", "credit", "context-length"],
      prompts: () => promptsIn(server.requests.at(-1)),
    },
  });
  describeConfinement("claude", { hands, server: () => server, make, left: cookies.left });

  test("a rate limit is not waited for here: it is said when to try again", async () => {
    server.script(() => ({ fails: 429, retryAfterSeconds: 60 }));
    const beganAt = Date.now();
    const result = await make({}).run(
      {
        prompt: "do it",
        cwd: home,
        access: "read",
        session: null,
        outputSchema: null,
        model: null,
        timeoutMs: 60_000,
        env: {},
        key: "s:1",
        turn: 0,
      },
      { signal: new AbortController().signal, onEvent: () => undefined },
    );
    expect(result.error?.kind).toBe("rate-limit");
    expect(result.error!.retryAt! - beganAt).toBeGreaterThanOrEqual(55_000);
    expect(server.requests).toHaveLength(1);
  });
});
