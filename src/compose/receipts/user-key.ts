import { generateKeyPairSync, randomBytes } from "node:crypto";
import { chmod, link, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RemandError } from "../../core/events/error.ts";
import type { ReceiptKey } from "../../core/events/receipt.ts";
import { isRecord } from "../../stdx/assert.ts";
import { keyIdOf } from "../../parse/data/receipt-keys.ts";
import { userStateFolder } from "../../adapters/git/repository.ts";
import { assertMayMakeToken } from "../journal/author.ts";
import { publicKeyOf } from "./check-receipt.ts";

/** The key that signs this user's receipts, and the public parts of earlier keys. */
export interface UserKey {
  /** PKCS #8 as PEM. */
  readonly privateKey: string;
  readonly current: ReceiptKey;
  readonly earlier: readonly ReceiptKey[];
}

const fileIn = (userState: string): string => join(userState, "receipt-key.json");

/** The user's key; created on first use, in a file that other users cannot read. */
export async function userKey(userState: string, now: number): Promise<UserKey> {
  return (await readUserKey(userState)) ?? (await makeKey(userState, [], now, "first"));
}

/** Creates a new key. The earlier key stays known: what it signed until now is still valid. */
async function rotateUserKey(userState: string, now: number): Promise<UserKey> {
  const known = await readUserKey(userState);
  const earlier = known === null ? [] : [...known.earlier, { ...known.current, to: now }];
  return makeKey(userState, earlier, now, "next");
}

/** All public keys of the user; empty if no key was created yet. */
export async function userKeys(userState: string): Promise<readonly ReceiptKey[]> {
  const known = await readUserKey(userState);
  return known === null ? [] : [...known.earlier, known.current];
}

async function makeKey(
  userState: string,
  earlier: readonly ReceiptKey[],
  now: number,
  which: "first" | "next",
): Promise<UserKey> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const kept = { schema: "remand.receipt-key/1", privateKey: pem, from: now, earlier };
  await mkdir(userState, { recursive: true, mode: 0o700 });
  const file = fileIn(userState);
  const beside = `${file}.${process.pid}-${randomBytes(4).toString("hex")}.new`;
  await writeFile(beside, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
  await chmod(beside, 0o600);
  if (which === "next") await rename(beside, file);
  else {
    // Two engines may create the first key at once: the file that was written first wins for both.
    await link(beside, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    await rm(beside, { force: true });
  }
  return (await readUserKey(userState))!;
}

async function readUserKey(userState: string): Promise<UserKey | null> {
  const file = fileIn(userState);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw new RemandError("file-unreadable", `Cannot read ${file}: ${error.message}`, "Fix its permissions.");
  });
  if (text === null) return null;
  const { mode } = await stat(file);
  if (process.platform !== "win32" && (mode & 0o077) !== 0)
    throw new RemandError(
      "file-unreadable",
      `Other users may read or write ${file} (mode ${(mode & 0o777).toString(8).padStart(4, "0")})`,
      `Run chmod 600 ${file}. If others may have read it, make a new key: remand key rotate.`,
    );
  const key = parseKey(text);
  if (key !== null) return key;
  throw new RemandError(
    "file-unreadable",
    `${file} is not the file of a key`,
    "Bring it back from a backup, or move it away: then a new key is made.",
  );
}

function parseKey(text: string): UserKey | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value) || typeof value["privateKey"] !== "string" || typeof value["from"] !== "number") return null;
    const publicKey = publicKeyOf(value["privateKey"]);
    const earlier = Array.isArray(value["earlier"]) ? (value["earlier"] as readonly ReceiptKey[]) : [];
    const current = { id: keyIdOf(publicKey), publicKey, from: value["from"] };
    return { privateKey: value["privateKey"], current, earlier };
  } catch {
    // The caller reports which file it is, and how to fix it.
    return null;
  }
}

/** The user's public keys, oldest first. Only a person, or a script before any engine, may replace the newest. */
export async function receiptKeys(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
  rotate: boolean,
): Promise<readonly ReceiptKey[]> {
  const folder = userStateFolder(env);
  if (rotate) await assertMayMakeToken(root, env, "key");
  const { earlier, current } = await (rotate ? rotateUserKey : userKey)(folder, Date.now());
  return [...earlier, current];
}
