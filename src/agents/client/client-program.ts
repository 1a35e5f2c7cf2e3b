import { access, constants, lstat, readdir, realpath, rm, rmdir, stat } from "node:fs/promises";
import { delimiter, dirname, join, resolve, sep } from "node:path";

/** Where a client is looked for: as it was configured, on the PATH, among the project's packages. */
export interface ClientSearch {
  readonly client: "claude" | "codex";
  /** A path, or another name on the PATH. */
  readonly command?: string | undefined;
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Variables that a client needs for itself: its login and its settings. */
export const CLIENT_NEEDS: Readonly<Record<ClientSearch["client"], readonly string[]>> = {
  claude: [
    "ANTHROPIC_*",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
  ],
  codex: ["OPENAI_*", "CODEX_HOME", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN"],
};

/** The program to start; `null` where there is none. */
export async function findClient(search: ClientSearch): Promise<string | null> {
  const { client, command, root, env } = search;
  if (command !== undefined) {
    const path = command.includes(sep) || command.includes("/") ? resolve(root, command) : null;
    const found = path === null ? await onPath(command, env) : await ifRunnable(path);
    return found === null ? null : native(client, found);
  }
  const found = (await onPath(client, env)) ?? (await inPackages(client, root));
  return found === null ? null : native(client, found);
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
async function inPackages(client: "claude" | "codex", root: string): Promise<string | null> {
  for (let folder = resolve(root); ; folder = dirname(folder)) {
    const modules = join(folder, "node_modules");
    const candidates =
      client === "claude"
        ? [
            join(modules, "@anthropic-ai", `claude-code-${PLATFORM}`, "claude"),
            join(modules, "@anthropic-ai", "claude-code", "bin", "claude.exe"),
          ]
        : [join(modules, "@openai", "codex", "bin", "codex.js")];
    for (const candidate of candidates) {
      const found = await ifRunnable(candidate);
      if (found !== null) return found;
    }
    if (dirname(folder) === folder) return null;
  }
}

const PLATFORM = `${process.platform}-${process.arch}`;

/**
 * Codex from npm is a script that starts the program. The script cannot pass on a SIGKILL, so the program itself is
 * started where it can be found.
 */
async function native(client: "claude" | "codex", program: string): Promise<string> {
  const real = await realpath(program);
  if (client !== "codex" || !real.endsWith(join("@openai", "codex", "bin", "codex.js"))) return program;
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

async function ifRunnable(path: string): Promise<string | null> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile() ? path : null;
  } catch {
    return null;
  }
}

/**
 * While a command runs in its sandbox, a client covers certain names in the worktree (`.bashrc`, `.mcp.json`,
 * `.codex`, `.claude/settings.json`, …). Where there is nothing of that name it makes an empty file that nobody may
 * write, or an empty folder. It takes them away again, unless it is ended first: then they would be kept as the
 * agent's work.
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
