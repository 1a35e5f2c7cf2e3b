import type { ReceiptKey } from "../../core/events/receipt.ts";
import { userStateFolder } from "../../adapters/git/repository.ts";
import { assertMayMakeToken } from "../journal/author.ts";
import { rotateUserKey, userKey } from "./user-key.ts";

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
