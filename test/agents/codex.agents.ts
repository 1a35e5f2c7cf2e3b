import { afterAll, beforeAll, describe } from "vitest";
import { createCodexAgent } from "../../src/adapters/agents/codex-agent.ts";
import type { ClientAgentOptions } from "../../src/adapters/agents/client-agent.ts";
import { describeAgent } from "../contract/agent.ts";
import { createCookies, play, promptsIn, type Hands } from "./client-under-test.ts";
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
  write: (path, text) => ({
    calls: "apply_patch",
    input: `*** Begin Patch\n*** Add File: ${path}\n+${text.replace(/\n$/, "")}\n*** End Patch`,
  }),
  shell: (cmd) => ({ calls: "exec_command", input: { cmd } }),
  // As the provider does with a strict schema: a field that may be left out comes as null.
  answer: (answers) => ({ says: JSON.stringify({ summary: null, ...answers }) }),
  troubles: {
    auth: { fails: 401 },
    overloaded: { fails: 529 },
    "bad-request": { fails: 404, message: "The model does not exist" },
    "rate-limit": { fails: 429, type: "usage_limit_reached" },
    refused: { fails: 400, type: "invalid_prompt", message: "Invalid prompt: it was flagged for our usage policy." },
    credit: { fails: 429, type: "insufficient_quota", message: "You exceeded your current quota." },
    "context-length": { fails: 400, type: "context_length_exceeded", message: "It exceeds the context window." },
  },
};

const source = () => ({
  PATH: process.env["PATH"],
  HOME: home,
  CODEX_HOME: home,
  CODEX_API_KEY: "none-of-your-business",
});

function make(options: Partial<ClientAgentOptions>) {
  return createCodexAgent({
    command: clientProgram("codex"),
    args: server.codexArgs,
    root: home,
    environment: { source: source(), sees: [] },
    cookieOf: cookies.of,
    ...options,
  });
}

describe("real codex", () => {
  describeAgent("codex", {
    make(behaviour) {
      play(server, behaviour, hands);
      return make(behaviour.ends === "crash" ? { command: "false" } : {});
    },
    leftovers: cookies.left,
    client: {
      answer: { tokens: 1000, costUsd: null },
      troubles: ["rate-limit", "refused", "credit", "context-length"],
      prompts: () => promptsIn(server.requests.at(-1)),
    },
  });
  describeConfinement("codex", { hands, server: () => server, make, left: cookies.left });
});
