import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const { CLAUDE_VERSION = "2.1.325", CODEX_VERSION = "0.166.0" } = process.env;

interface Installed {
  readonly version: string;
  readonly packages: readonly string[];
  /** A file that exists if the client is installed. */
  readonly proof: string;
  readonly options: readonly string[];
}

/** The tested versions. They are never dependencies: they have 900 MB, and users install them. */
const CLIENTS: Readonly<Record<"claude" | "codex" | "acp" | "model", Installed>> = {
  claude: {
    version: CLAUDE_VERSION,
    packages: [`@anthropic-ai/claude-code@${CLAUDE_VERSION}`],
    proof: ".bin/claude",
    options: [],
  },
  codex: { version: CODEX_VERSION, packages: [`@openai/codex@${CODEX_VERSION}`], proof: ".bin/codex", options: [] },
  // It drives Claude Code. Its own copy of 250 MB is not installed, because there is one already.
  acp: {
    version: "0.99.1",
    packages: ["@agentclientprotocol/claude-agent-acp@0.99.1"],
    proof: ".bin/claude-agent-acp",
    options: ["--omit=optional"],
  },
  model: {
    version: "7.0.169",
    packages: [
      "ai@7.0.169",
      "@ai-sdk/anthropic@4.0.102",
      "@ai-sdk/google@4.0.117",
      "@ai-sdk/openai@4.0.114",
      "@ai-sdk/openai-compatible@3.0.90",
    ],
    proof: "ai/package.json",
    options: [],
  },
};
export type ClientName = keyof typeof CLIENTS;

const CACHE = fileURLToPath(new URL("../../node_modules/.cache/remand-agent-clients", import.meta.url));

/** Returns the folder in which the client is installed, as a project with its package. */
export function clientRoot(client: ClientName): string {
  return join(CACHE, `${client}-${CLIENTS[client].version}`);
}

export function clientVersion(client: ClientName): string {
  return CLIENTS[client].version;
}

export const isInstalled = (client: ClientName): boolean => existsSync(proofOf(client));

export function clientProgram(client: Exclude<ClientName, "model">): string {
  return proofOf(client);
}

const proofOf = (client: ClientName): string => join(clientRoot(client), "node_modules", CLIENTS[client].proof);

/**
 * Makes a home that a client may write to. Not in the temporary folder, because Codex puts none of its programs there.
 */
export function makeHome(): string {
  mkdirSync(CACHE, { recursive: true });
  return mkdtempSync(join(CACHE, "home-"));
}

/** Runs once before the suite, which needs the clients and fails without them. */
export function setup(): void {
  for (const client of Object.keys(CLIENTS) as ClientName[]) if (!isInstalled(client)) install(client);
}

function install(client: ClientName): void {
  const { packages, options: more } = CLIENTS[client];
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, "installing-"));
  const options = ["--no-audit", "--no-fund", "--no-save", "--engine-strict=false", ...more, "--prefix", folder];
  const { status, stderr } = spawnSync("npm", ["install", ...options, ...packages], {
    cwd: dirname(folder),
    encoding: "utf8",
  });
  if (status !== 0) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(
      `${packages.join(", ")} could not be installed, so the real clients cannot be tested:\n${stderr}\n` +
        `It needs the npm registry and 400 MB at ${CACHE}. The other tests (npm test) need neither.`,
    );
  }
  renameSync(folder, clientRoot(client));
}

export function removeHome(home: string): void {
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
