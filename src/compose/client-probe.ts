import { basename } from "node:path";
import type { ClientWish } from "../cli/agent-wish.ts";
import type { Probe } from "../cli/host.ts";
import { readJson } from "../readers/data-text.ts";
import { CLIENT_NEEDS, findClient, onPath } from "../adapters/agents/client-program.ts";
import { allowedEnvironment, type Environment } from "../adapters/process/environment.ts";
import { runProcess, type ProcessResult } from "../adapters/process/run-process.ts";

/** Which client there is, its version, whether it has a login, and whether it has a sandbox. Nothing is spent. */
export async function clientProbe(
  root: string,
  { use, command, args, env: sees }: ClientWish,
  source: Readonly<Record<string, string | undefined>>,
): Promise<Probe> {
  const program = await findClient({ client: use, command, root, env: source });
  if (program === null)
    return { name: use, ok: false, detail: `${command ?? use} not found`, fix: `Install it: ${INSTALL[use]}` };
  const env = {
    ...allowedEnvironment(source, [...sees, ...CLIENT_NEEDS[use]]),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  };
  const ask = (...asked: string[]): Promise<ProcessResult> =>
    runProcess({ command: [program, ...asked], cwd: root, env, timeoutMs: PATIENCE_MS });
  const version = await ask("--version");
  const [number] = /\d+\.\d+\.\d+\S*/.exec(version.stdout) ?? [];
  if (number === undefined)
    return {
      name: use,
      ok: false,
      detail: `${program} does not say its version: ${version.output.trim().slice(0, 200)}`,
      fix: `Install it again: ${INSTALL[use]}`,
    };
  const found = `${number} (${basename(program) === use ? program : `${command ?? use} is ${program}`})`;
  // Arguments of the user's own may name another provider, with another login.
  const login = args.length > 0 ? "login not known: it has arguments of its own" : await loginOf(use, ask, env);
  const detail = `${found}, ${login ?? "no login"}${await sandboxWords(use, source)}`;
  return login === null ? { name: use, ok: false, detail, fix: LOGIN[use] } : { name: use, ok: true, detail, fix: "" };
}

const PATIENCE_MS = 20_000;

const INSTALL = { claude: "npm install -g @anthropic-ai/claude-code", codex: "npm install -g @openai/codex" } as const;

const LOGIN = {
  claude: "Run `claude` and log in, or set ANTHROPIC_API_KEY.",
  codex: "Run `codex login`, or set CODEX_API_KEY.",
} as const;

/** In words; `null` when there is none. */
async function loginOf(
  use: ClientWish["use"],
  ask: (...args: string[]) => Promise<ProcessResult>,
  env: Environment,
): Promise<string | null> {
  if (use === "codex") {
    // A key in the environment is not asked for by its own status.
    if ((env["CODEX_API_KEY"] ?? "") !== "") return "key in CODEX_API_KEY";
    const status = await ask("login", "status");
    const said = status.output.split("\n").find((line) => /logged in/i.test(line));
    return status.exitCode === 0 ? (said ?? "logged in").trim().toLowerCase() : null;
  }
  const status = await ask("auth", "status");
  const data = readJson(status.stdout.trim());
  const fields = data.ok && typeof data.value === "object" && data.value !== null ? data.value : {};
  // An older version has no such command.
  if (!("loggedIn" in fields)) return "login not known: this version does not say";
  if (fields.loggedIn !== true) return null;
  return "authMethod" in fields && typeof fields.authMethod === "string"
    ? `login by ${fields.authMethod}`
    : "logged in";
}

async function sandboxWords(
  use: ClientWish["use"],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  if (use === "codex") return "";
  const hasBoth = (await onPath("bwrap", env)) !== null && (await onPath("socat", env)) !== null;
  return hasBoth ? ", sandbox for its commands" : ", no sandbox for its commands (install bubblewrap and socat)";
}
