import { afterAll, beforeAll, describe } from "vitest";
import { createAcpAgent, type AcpAgentOptions } from "../../src/adapters/agents/acp-agent.ts";
import { startModelServer, type ModelServer } from "../../src/testing/model-server.ts";
import { describeAgent } from "../contract/agent.ts";
import { claudeAnswerUsd, createCookies, play, promptsIn, type Hands } from "./client-under-test.ts";
import { describeConfinement } from "./confinement.ts";
import { clientProgram, makeHome, removeHome } from "./installed-clients.ts";

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

/** Claude Code behind the Agent Client Protocol: the same tools, another conversation around them. */
const hands: Hands = {
  write: (path, text) => ({ calls: "Write", input: { file_path: path, content: text } }),
  shell: (command) => ({ calls: "Bash", input: { command, description: "a command" } }),
  answer: (answers) => ({ says: JSON.stringify(answers) }),
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
  ...server.env,
  CLAUDE_CODE_EXECUTABLE: clientProgram("claude"),
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  CLAUDE_CODE_MAX_RETRIES: "1",
  DISABLE_AUTOUPDATER: "1",
});

function make(options: Partial<AcpAgentOptions> = {}) {
  return createAcpAgent({
    command: clientProgram("acp"),
    environment: { source: source(), sees: ["ANTHROPIC_*", "CLAUDE_CODE_*", "DISABLE_AUTOUPDATER"] },
    cookieOf: cookies.of,
    ...options,
  });
}

describe("real acp", () => {
  describeAgent("acp", {
    make(behaviour) {
      play(server, behaviour, hands);
      return make(behaviour.ends === "crash" ? { command: "false" } : {});
    },
    leftovers: cookies.left,
    request: { timeoutMs: 45_000 },
    client: {
      answer: { tokens: 1000, costUsd: claudeAnswerUsd() },
      troubles: ["rate-limit", "refused", "credit", "context-length"],
      prompts: () => promptsIn(server.requests.at(-1)),
      lacks: ["forms"],
    },
  });
  describeConfinement("acp", { hands, server: () => server, make, left: cookies.left, lacks: ["secrecy"] });
});
