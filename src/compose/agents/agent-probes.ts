import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { AcpSpec, ClientSpec, ModelSpec } from "../../app/agent-spec.ts";
import type { Probe } from "../../app/host.ts";
import { type AcpGreeting, greetAcp } from "../../agents/acp/acp-greeting.ts";
import {
  addressVariableOf,
  goesByKey,
  hasPackage,
  keyVariableOf,
  loadPackage,
  makerIn,
  packagesFor,
  providerIn,
} from "../../agents/model/model-provider.ts";
import { type Environment, allowedEnvironment } from "../../adapters/process/environment.ts";
import { readJson } from "../../parse/data/data-text.ts";
import { CLIENT_NEEDS, findClient, onPath } from "../../agents/client/client-program.ts";
import { type ProcessResult, runProcess } from "../../adapters/process/run-process.ts";

type EnvVariables = Readonly<Record<string, string | undefined>>;

/** Is it there, does it speak the protocol, can a conversation be begun? No model is asked. */
export async function acpProbe({ command, args, env: sees }: AcpSpec, source: EnvVariables): Promise<Probe> {
  // An empty folder: the probe must not read the project.
  const cwd = await mkdtemp(join(tmpdir(), "remand-probe-"));
  try {
    const env = { ...allowedEnvironment(source, sees), ...QUIET };
    return acpProbeText(
      [command, ...(args ?? [])].join(" "),
      await greetAcp({ command, args, cwd, env, timeoutMs: PATIENCE_MS }),
    );
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

const PATIENCE_MS = 20_000;

/** To be looked at is no reason to call home. */
const QUIET = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };

function acpProbeText(line: string, greeting: AcpGreeting): Probe {
  const problem = (detail: string, fix: string): Probe => ({
    name: "acp",
    ok: false,
    detail: `${line}: ${detail}`,
    fix,
  });
  if (greeting.kind === "missing")
    return problem("not found", "Install the agent, or name its program in the role's `command`.");
  if (greeting.kind === "silent")
    return problem(
      `it does not speak the Agent Client Protocol: ${greeting.why}`,
      "Call it so that it does: most agents want an argument for that, such as `gemini --acp`.",
    );
  const { version, agent, resumes, takesServers, trouble } = greeting;
  if (version !== 1)
    return problem(`it speaks version ${version} of the protocol`, "Install a version of it that speaks version 1.");
  if (trouble !== null)
    return trouble.isLogin
      ? problem("no login", "Start it by hand and log in, or name the variable with its key in the role's `env`.")
      : problem(`it starts no conversation: ${trouble.words}`, "Start it by hand and fix what it reports.");
  const can = [
    resumes ? "resumes conversations" : "starts every conversation new",
    takesServers ? "takes tools to report by" : "reports by its message",
  ];
  return { name: "acp", ok: true, detail: [`${line}${agent === "" ? "" : ` (${agent})`}`, ...can].join(", "), fix: "" };
}

/** Is a model named, can its packages be loaded, is there a key? No request is sent. */
export function modelProbe(root: string, { model }: ModelSpec, source: EnvVariables): Probe {
  const problem = (detail: string, fix: string): Probe => ({ name: "model", ok: false, detail, fix });
  const provider = providerIn(model);
  if (model === null || provider === null)
    return problem(
      model === null ? "no model is named in the config" : `${model} does not say its provider`,
      "Name it with its provider: `model: anthropic/claude-opus-4-5`.",
    );
  const packages = packagesFor(provider);
  const install = `npm install --save-dev ${packages.join(" ")}`;
  const missing = packages.filter((name) => !hasPackage(root, name));
  if (missing.length > 0)
    return problem(`${model}: ${missing.join(" and ")} not installed`, `Install it in the project: ${install}`);
  try {
    if (makerIn(loadPackage(root, packages[1])) === null)
      return problem(`${model}: ${packages[1]} makes no provider`, `Install another version of it: ${install}`);
    if (typeof loadPackage(root, packages[0])["generateText"] !== "function")
      return problem(`${model}: this version of ${packages[0]} is too old`, `Install a newer one: ${install}`);
  } catch (error) {
    return problem(
      `${model}: ${packages.join(" or ")} cannot be loaded: ${(error as Error).message}`,
      `Install it again: ${install}`,
    );
  }
  const key = keyVariableOf(provider);
  const hasKey = (source[key] ?? "") !== "";
  if (!hasKey && goesByKey(provider)) return problem(`${model}: no key`, `Set ${key}.`);
  const address = source[addressVariableOf(provider)];
  const login = hasKey ? `key in ${key}` : "login not known";
  const place = address === undefined || address === "" ? "" : `, at ${address}`;
  return { name: "model", ok: true, detail: `${model}, ${login}${place}`, fix: "" };
}

/** Which client there is, its version, whether it has a login, and whether it has a sandbox. Nothing is spent. */
export async function clientProbe(
  root: string,
  { use, command, args, env: sees }: ClientSpec,
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
    runProcess({ command: [program, ...asked], cwd: root, env, timeoutMs: CLIENT_PATIENCE_MS });
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

const CLIENT_PATIENCE_MS = 20_000;

const INSTALL = { claude: "npm install -g @anthropic-ai/claude-code", codex: "npm install -g @openai/codex" } as const;

const LOGIN = {
  claude: "Run `claude` and log in, or set ANTHROPIC_API_KEY.",
  codex: "Run `codex login`, or set CODEX_API_KEY.",
} as const;

/** In words; `null` when there is none. */
async function loginOf(
  use: ClientSpec["use"],
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
  use: ClientSpec["use"],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  if (use === "codex") return "";
  const hasBoth = (await onPath("bwrap", env)) !== null && (await onPath("socat", env)) !== null;
  return hasBoth ? ", sandbox for its commands" : ", no sandbox for its commands (install bubblewrap and socat)";
}
