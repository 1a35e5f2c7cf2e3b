import { createCodexAgent } from "../../src/agents/codex/codex-agent.ts";
import { clientProgram } from "./installed-clients.ts";
import { describeRealClient } from "./real-client.ts";

describeRealClient({
  name: "codex",
  hands: {
    write: (path, text) => ({
      calls: "apply_patch",
      input: `*** Begin Patch\n*** Add File: ${path}\n+${text.replace(/\n$/, "")}\n*** End Patch`,
    }),
    shell: (cmd) => ({ calls: "exec_command", input: { cmd } }),
    // Like the provider with a strict schema: an optional field comes as null.
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
  },
  make: ({ server, home }, options) =>
    createCodexAgent({
      command: clientProgram("codex"),
      args: server.codexArgs,
      root: home,
      environment: {
        source: {
          PATH: process.env["PATH"],
          HOME: home,
          CODEX_HOME: home,
          CODEX_API_KEY: "none-of-your-business",
        },
        sees: [],
      },
      ...options,
    }),
  answerUsd: null,
});
