import { readdir, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ClientProgram } from "../client/client.ts";
import { PLATFORM, ifRunnable } from "../client/client-program.ts";

const SCRIPT = join("@openai", "codex", "bin", "codex.js");

export const CODEX_PROGRAM: ClientProgram = {
  name: "codex",
  installCommand: "npm install -g @openai/codex",
  needs: ["OPENAI_*", "CODEX_HOME", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN"],
  packaged: [SCRIPT],
  native,
  loginFix: "Run `codex login`, or set CODEX_API_KEY.",
  async login(ask, env) {
    // `login status` does not consider a key in the environment.
    if ((env["CODEX_API_KEY"] ?? "") !== "") return "key in CODEX_API_KEY";
    const status = await ask("login", "status");
    const said = status.output.split("\n").find((line) => /logged in/i.test(line));
    return status.exitCode === 0 ? (said ?? "logged in").trim().toLowerCase() : null;
  },
};

/** Returns the program itself. Codex from npm is a script that starts the program and cannot pass on a SIGKILL. */
async function native(program: string): Promise<string> {
  const real = await realpath(program);
  if (!real.endsWith(SCRIPT)) return program;
  const own = dirname(dirname(real));
  const scope = dirname(own);
  for (const place of [join(scope, `codex-${PLATFORM}`), join(own, "node_modules", "@openai", `codex-${PLATFORM}`)]) {
    const vendor = join(place, "vendor");
    for (const triple of await readdir(vendor).catch(() => [])) {
      const found = await ifRunnable(join(vendor, triple, "bin", "codex"));
      if (found !== null) return found;
    }
  }
  return program;
}
