import type { Sandbox } from "../../ports/sandbox.ts";

/** Programs have the rights of the user. */
export const NO_SANDBOX: Sandbox = {
  level: { kind: "none", held: [], allowed: [] },
  open: ({ env, command }) => Promise.resolve({ env, commandLine: command, close: () => Promise.resolve() }),
};
