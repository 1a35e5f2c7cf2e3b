import { mkdir, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { Environment } from "../../adapters/process/environment.ts";
import { NO_SANDBOX } from "../../adapters/process/launch.ts";
import type { ProcessSpec } from "../../adapters/process/run-process.ts";
import type { Sandbox } from "../../ports/sandbox.ts";

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
