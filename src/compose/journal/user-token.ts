import { randomBytes, timingSafeEqual } from "node:crypto";
import { chmod, mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RemandError } from "../../core/events/error.ts";
import { isRecord } from "../../stdx/assert.ts";
import { sha256 } from "../../stdx/sha256.ts";

type EnvVariables = Readonly<Record<string, string | undefined>>;

/** What is kept of a token: enough to know it again, and not enough to use it. */
interface KeptToken {
  readonly sha256: string;
  readonly madeAt: number;
}

const TOKEN_VARIABLE = "REMAND_TOKEN";
const TOKEN_FILE_VARIABLE = "REMAND_TOKEN_FILE";

const fileIn = (userState: string): string => join(userState, "token.json");

/** A new token of the user, which replaces the one before. Only its hash is kept, in a file that no other user reads. */
export async function makeToken(userState: string, now: number): Promise<string> {
  const token = `rmd_${randomBytes(32).toString("base64url")}`;
  const kept: KeptToken & { schema: string } = { schema: "remand.token/1", sha256: sha256(token), madeAt: now };
  await mkdir(userState, { recursive: true, mode: 0o700 });
  const file = fileIn(userState);
  await writeFile(`${file}.new`, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
  await chmod(`${file}.new`, 0o600);
  await rename(`${file}.new`, file);
  return token;
}

/** When the user's token was made; `null` where there is none. */
export async function tokenMadeAt(userState: string): Promise<number | null> {
  return (await keptToken(userState))?.madeAt ?? null;
}

/** Was a token given, right or wrong? An empty variable is one that was never set. */
export const hasGivenToken = (env: EnvVariables): boolean =>
  (env[TOKEN_VARIABLE] ?? "") !== "" || (env[TOKEN_FILE_VARIABLE] ?? "") !== "";

/** Throws unless the token that was given is the user's. */
export async function insistOnToken(userState: string, env: EnvVariables): Promise<void> {
  const file = env[TOKEN_FILE_VARIABLE] ?? "";
  const given = file === "" ? (env[TOKEN_VARIABLE] ?? "") : await tokenIn(file);
  const kept = await keptToken(userState);
  if (kept === null)
    throw new RemandError(
      "not-a-person",
      `A token was given, and there is none in ${userState}`,
      "Make one: remand token. If the engine runs with another XDG_STATE_HOME, make it with the same.",
    );
  // Two hashes: the time that the comparison takes tells nothing about the token.
  if (timingSafeEqual(Buffer.from(sha256(given.trim())), Buffer.from(kept.sha256))) return;
  throw new RemandError(
    "not-a-person",
    "The token is wrong",
    `Pass the token that remand token printed, in ${TOKEN_VARIABLE} or --token-file; remand token rotate makes a new one.`,
  );
}

async function tokenIn(file: string): Promise<string> {
  await refuseOpenFile(file);
  return readFile(file, "utf8");
}

async function keptToken(userState: string): Promise<KeptToken | null> {
  const file = fileIn(userState);
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return null;
  await refuseOpenFile(file);
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value) && typeof value["madeAt"] === "number") {
      const hash = value["sha256"];
      if (typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash)) return { sha256: hash, madeAt: value["madeAt"] };
    }
  } catch {
    // Said below, with the way out.
  }
  throw new RemandError("file-unreadable", `${file} is not a token's file`, "Make a new token: remand token rotate.");
}

/** Windows has no such modes: every file looks open there. */
async function refuseOpenFile(file: string): Promise<void> {
  const { mode } = await stat(file).catch(() => {
    throw new RemandError("file-missing", `there is no file ${file}`, "Give --token-file the file with your token.");
  });
  if (process.platform === "win32" || (mode & 0o077) === 0) return;
  throw new RemandError(
    "not-a-person",
    `Other users may read or write ${file} (mode ${(mode & 0o777).toString(8).padStart(4, "0")})`,
    `Run chmod 600 ${file}. If others may have read it, make a new token: remand token rotate.`,
  );
}
