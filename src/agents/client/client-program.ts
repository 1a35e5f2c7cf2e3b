import { access, constants, lstat, readdir, rm, rmdir, stat, mkdir } from "node:fs/promises";
import { basename, delimiter, dirname, join, resolve, sep, isAbsolute } from "node:path";
import { allowedEnvironment, type Environment } from "../../adapters/process/environment.ts";
import { type ProcessResult, runProcess, type ProcessSpec } from "../../adapters/process/run-process.ts";
import { NO_SANDBOX } from "../../adapters/process/launch.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import { type AgentProbe, type ClientProgram, QUIET } from "./client.ts";

/** Where a client is looked for: as it was configured, on the PATH, among the project's packages. */
export interface ClientSearch {
  readonly client: Pick<ClientProgram, "name" | "packaged" | "native">;
  /** A path, or another name on the PATH. */
  readonly command?: string | undefined;
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The program to start; `null` where there is none. */
export async function findClient(search: ClientSearch): Promise<string | null> {
  const { client, command, root, env } = search;
  if (command !== undefined) {
    const path = command.includes(sep) || command.includes("/") ? resolve(root, command) : null;
    const found = path === null ? await onPath(command, env) : await ifRunnable(path);
    return found === null ? null : (client.native?.(found) ?? found);
  }
  const found = (await onPath(client.name, env)) ?? (await inPackages(client.packaged, root));
  return found === null ? null : (client.native?.(found) ?? found);
}

export async function onPath(name: string, env: Readonly<Record<string, string | undefined>>): Promise<string | null> {
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    if (folder === "") continue;
    const found = await ifRunnable(join(folder, name));
    if (found !== null) return found;
  }
  return null;
}

/** A package may be installed in the project, or in a workspace above it. */
async function inPackages(packaged: readonly string[], root: string): Promise<string | null> {
  for (let folder = resolve(root); ; folder = dirname(folder)) {
    for (const candidate of packaged) {
      const found = await ifRunnable(join(folder, "node_modules", candidate));
      if (found !== null) return found;
    }
    if (dirname(folder) === folder) return null;
  }
}

/** As packages name it. */
export const PLATFORM = `${process.platform}-${process.arch}`;

export async function ifRunnable(path: string): Promise<string | null> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile() ? path : null;
  } catch {
    return null;
  }
}

/**
 * While a command runs in its sandbox, a client covers certain names in the worktree (`.bashrc`, `.mcp.json`,
 * `.codex`, `.claude/settings.json`, …). For a name that does not exist it makes an empty read-only file or an empty
 * folder. It removes them afterwards, unless it is ended first: then they would be kept as the agent's work.
 */
export async function watchPlaceholders(cwd: string): Promise<{ remove(): Promise<void> }> {
  const before = new Set(await entries(cwd));
  const claude = join(cwd, ".claude");
  const beforeInClaude = new Set(await entries(claude));
  return {
    async remove() {
      for (const name of await entries(claude)) if (!beforeInClaude.has(name)) await removeEmpty(join(claude, name));
      for (const name of await entries(cwd)) if (!before.has(name)) await removeEmpty(join(cwd, name));
    },
  };
}

async function entries(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}

/** What holds something stays: that is not for us to judge. Empty folders are nothing to git. */
async function removeEmpty(path: string): Promise<void> {
  const stat = await lstat(path).catch(() => null);
  if (stat?.isDirectory() === true) await rmdir(path).catch(() => undefined);
  if (stat?.isFile() === true && stat.size === 0 && (stat.mode & 0o222) === 0) await rm(path, { force: true });
}

/**
 * A schema without its own name and without that of its dialect: Claude Code refuses a dialect that it cannot look up,
 * and Codex's provider every word that it does not know.
 */
export function namelessSchema(schema: object): object {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== "$schema" && name !== "$id"));
}

interface ClientLook {
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** Names of variables that it may see. */
  readonly env?: readonly string[] | undefined;
}

/** Which client there is, its version, whether it has a login, and whether it has a sandbox. Nothing is spent. */
export async function clientProbe(
  client: ClientProgram,
  root: string,
  { command, args = [], env: sees = [] }: ClientLook,
  source: Readonly<Record<string, string | undefined>>,
): Promise<AgentProbe> {
  const { name, installCommand, needs, loginFix } = client;
  const program = await findClient({ client, command, root, env: source });
  if (program === null)
    return { name, ok: false, detail: `${command ?? name} not found`, fix: `Install it: ${installCommand}` };
  const env = {
    ...allowedEnvironment(source, [...sees, ...needs]),
    ...QUIET,
  };
  const ask = (...asked: string[]): Promise<ProcessResult> =>
    runProcess({ command: [program, ...asked], cwd: root, env, timeoutMs: CLIENT_PATIENCE_MS, sandbox: null });
  const version = await ask("--version");
  const [number] = /\d+\.\d+\.\d+\S*/.exec(version.stdout) ?? [];
  if (number === undefined)
    return {
      name,
      ok: false,
      detail: `${program} does not say its version: ${version.output.trim().slice(0, 200)}`,
      fix: `Install it again: ${installCommand}`,
    };
  const found = `${number} (${basename(program) === name ? program : `${command ?? name} is ${program}`})`;
  // Arguments of the user's own may name another provider, with another login.
  const login = args.length > 0 ? "login not known: it has arguments of its own" : await client.login(ask, env);
  const detail = `${found}, ${login ?? "no login"}${(await client.sandbox?.(source)) ?? ""}`;
  return login === null ? { name, ok: false, detail, fix: loginFix } : { name, ok: true, detail, fix: "" };
}

const CLIENT_PATIENCE_MS = 20_000;

/** Where a client keeps its things, by its own rules. */
interface ClientHome {
  readonly variable: string;
  /** In HOME, where the variable is not set. */
  readonly folder: string;
  /** Conversations, which later dispatches go on with. */
  readonly conversations: string;
  /** The client renews it by itself. */
  readonly login: string;
}

const CLIENT_HOMES: Readonly<Record<string, ClientHome>> = {
  claude: {
    variable: "CLAUDE_CONFIG_DIR",
    folder: ".claude",
    conversations: "projects",
    login: ".credentials.json",
  },
  codex: { variable: "CODEX_HOME", folder: ".codex", conversations: "sessions", login: "auth.json" },
};

/**
 * How a client is started in a sandbox: conversations and login are its own to write, settings and hooks are a copy.
 * Without the client's name it may be any of them.
 */
export async function clientSandbox(
  sandbox: Sandbox | undefined,
  env: Environment,
  { folders, client }: { readonly folders: readonly string[]; readonly client?: string },
): Promise<Pick<ProcessSpec, "sandbox" | "writes" | "copies">> {
  const homes = client === undefined ? Object.values(CLIENT_HOMES) : [CLIENT_HOMES[client]];
  const writes = [...folders];
  const copies: string[] = [];
  for (const home of homes) {
    const folder = home === undefined ? null : folderOf(home, env);
    // One that is named keeps its first conversation too; of the others, those that were used before.
    if (home === undefined || folder === null || (client === undefined && !(await isThere(folder)))) continue;
    const conversations = join(folder, home.conversations);
    await mkdir(conversations, { recursive: true, mode: 0o700 });
    copies.push(folder);
    writes.push(conversations);
    if (await isThere(join(folder, home.login))) writes.push(join(folder, home.login));
  }
  return { sandbox: sandbox ?? NO_SANDBOX, writes, copies };
}

function folderOf({ variable, folder }: ClientHome, env: Environment): string | null {
  const named = env[variable] ?? "";
  if (isAbsolute(named)) return named;
  return env["HOME"] === undefined ? null : join(env["HOME"], folder);
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
