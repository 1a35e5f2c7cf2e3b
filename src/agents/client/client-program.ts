import { access, constants, lstat, readdir, rm, rmdir, stat, mkdir } from "node:fs/promises";
import { basename, delimiter, dirname, join, resolve, sep, isAbsolute } from "node:path";
import { allowedEnvironment, type Environment } from "../../adapters/process/environment.ts";
import { type ProcessResult, runProcess, type ProcessSpec } from "../../adapters/process/run-process.ts";
import { NO_SANDBOX } from "../../adapters/process/launch.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import { type AgentProbe, type ClientProgram, QUIET } from "./client.ts";

/** Where to look for a client: its configured path, the PATH, the project's packages. */
export interface ClientSearch {
  readonly client: Pick<ClientProgram, "name" | "packaged" | "native">;
  /** A path, or another name on the PATH. */
  readonly command?: string | undefined;
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Returns the program to start; `null` if there is none. */
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

/** Looks in the packages of the project, and of workspaces above it. */
async function inPackages(packaged: readonly string[], root: string): Promise<string | null> {
  for (let folder = resolve(root); ; folder = dirname(folder)) {
    for (const candidate of packaged) {
      const found = await ifRunnable(join(folder, "node_modules", candidate));
      if (found !== null) return found;
    }
    if (dirname(folder) === folder) return null;
  }
}

/** The platform's name in package names. */
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
 * Records the worktree's files before a client runs commands in its sandbox. Meanwhile the client covers certain names
 * in the worktree (`.bashrc`, `.mcp.json`, `.codex`, `.claude/settings.json`, …); for a name that does not exist it
 * makes an empty read-only file or an empty folder. It removes them afterwards, unless it is killed first: then they
 * would be committed as the agent's work.
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

/** Removes an empty entry. Anything with content stays, because it may be work. Git ignores empty folders. */
async function removeEmpty(path: string): Promise<void> {
  const stat = await lstat(path).catch(() => null);
  if (stat?.isDirectory() === true) await rmdir(path).catch(() => undefined);
  if (stat?.isFile() === true && stat.size === 0 && (stat.mode & 0o222) === 0) await rm(path, { force: true });
}

/**
 * Removes the name of a schema and of its dialect: Claude Code rejects a dialect that it cannot look up, and Codex's
 * provider rejects every unknown keyword.
 */
export function namelessSchema(schema: object): object {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== "$schema" && name !== "$id"));
}

interface ClientLook {
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** Names of the variables that it may see. */
  readonly env?: readonly string[] | undefined;
}

/** Reports a client's version, and whether it has a login and a sandbox. Costs nothing. */
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
  // The user's own arguments may select another provider, with another login.
  const login = args.length > 0 ? "login unknown: custom arguments are set" : await client.login(ask, env);
  const detail = `${found}, ${login ?? "no login"}${(await client.sandbox?.(source)) ?? ""}`;
  return login === null ? { name, ok: false, detail, fix: loginFix } : { name, ok: true, detail, fix: "" };
}

const CLIENT_PATIENCE_MS = 20_000;

/** Where a client keeps its files. */
interface ClientHome {
  readonly variable: string;
  /** The folder in HOME, if the variable is not set. */
  readonly folder: string;
  /** Conversations, which later dispatches resume. */
  readonly conversations: string;
  /** The login, which the client renews by itself. */
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
 * Returns how to start a client in a sandbox: it may write its conversations and login; its settings and hooks are a
 * copy. Without a name, this applies to all known clients.
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
    // For a named client, create the folder if needed. Without a name, include only clients that were used before.
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
