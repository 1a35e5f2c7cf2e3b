import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isRecord } from "../stdx/assert.ts";
import { sha256 } from "../stdx/sha256.ts";

/*
 * The tokens that dashboards of a checkout gave out, by their hashes: a tab that is open goes on after `remand serve`
 * was started again. The tokens themselves are in the browser and nowhere else.
 */

interface KeptDashboardToken {
  readonly sha256: string;
  readonly madeAt: number;
}

const MOST_TOKENS = 8;
const MOST_AGE_MS = 30 * 24 * 3_600_000;

/** In the user's own folder, which no agent in a sandbox sees; one file for each checkout. */
export const dashboardTokenFile = (userState: string, root: string): string =>
  join(userState, "dashboards", `${sha256(root).slice(0, 24)}.json`);

export async function keptTokens(file: string, now = Date.now()): Promise<readonly string[]> {
  return (await readTokens(file, now)).map((token) => token.sha256);
}

export async function keepToken(file: string, hash: string, now: number): Promise<void> {
  const tokens = [...(await readTokens(file, now)), { sha256: hash, madeAt: now }].slice(-MOST_TOKENS);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(`${file}.new`, `${JSON.stringify({ schema: "remand.dashboard-tokens/1", tokens })}\n`, {
    mode: 0o600,
  });
  await rename(`${file}.new`, file);
}

/** A file that is missing, or was damaged, only means that open tabs need the new address. */
async function readTokens(file: string, now: number): Promise<readonly KeptDashboardToken[]> {
  try {
    const value: unknown = JSON.parse(await readFile(file, "utf8"));
    const tokens: unknown = isRecord(value) ? value["tokens"] : null;
    return Array.isArray(tokens) ? tokens.flatMap((token) => kept(token, now)) : [];
  } catch {
    return [];
  }
}

function kept(value: unknown, now: number): KeptDashboardToken[] {
  if (!isRecord(value)) return [];
  const { sha256: hash, madeAt } = value;
  if (typeof hash !== "string" || !/^[0-9a-f]{64}$/.test(hash) || typeof madeAt !== "number") return [];
  return now - madeAt > MOST_AGE_MS ? [] : [{ sha256: hash, madeAt }];
}
