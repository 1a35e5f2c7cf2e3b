import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const { CLAUDE_VERSION = "2.1.325", CODEX_VERSION = "0.166.0" } = process.env;

/** The versions that were looked at. They are never dependencies: 800 MB, and not ours to bring. */
const CLIENTS = {
  claude: { package: "@anthropic-ai/claude-code", version: CLAUDE_VERSION, program: "claude" },
  codex: { package: "@openai/codex", version: CODEX_VERSION, program: "codex" },
} as const;

const CACHE = fileURLToPath(new URL("../../node_modules/.cache/remand-agent-clients", import.meta.url));

/** Where the client is installed, as a project whose package it is. */
export function clientRoot(client: keyof typeof CLIENTS): string {
  return join(CACHE, `${client}-${CLIENTS[client].version}`);
}

export function clientVersion(client: keyof typeof CLIENTS): string {
  return CLIENTS[client].version;
}

export function clientProgram(client: keyof typeof CLIENTS): string {
  return join(clientRoot(client), "node_modules", ".bin", CLIENTS[client].program);
}

/** A home that a client may fill. Not among temporary files: Codex puts none of its programs there. */
export function makeHome(): string {
  mkdirSync(CACHE, { recursive: true });
  return mkdtempSync(join(CACHE, "home-"));
}

/** Run once before the suite. Whoever asks for the suite asks for the clients: without them it fails. */
export function setup(): void {
  for (const client of Object.keys(CLIENTS) as (keyof typeof CLIENTS)[]) {
    if (existsSync(clientProgram(client))) continue;
    const { package: name, version } = CLIENTS[client];
    mkdirSync(CACHE, { recursive: true });
    const folder = mkdtempSync(join(CACHE, "installing-"));
    const options = ["--no-audit", "--no-fund", "--no-save", "--engine-strict=false", "--prefix", folder];
    const { status, stderr } = spawnSync("npm", ["install", ...options, `${name}@${version}`], {
      cwd: dirname(folder),
      encoding: "utf8",
    });
    if (status !== 0) {
      rmSync(folder, { recursive: true, force: true });
      throw new Error(
        `${name}@${version} could not be installed, so the real clients cannot be tested:\n${stderr}\n` +
          `It needs the npm registry and 400 MB at ${CACHE}. The other tests (npm test) need neither.`,
      );
    }
    renameSync(folder, clientRoot(client));
  }
}

export function removeHome(home: string): void {
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
