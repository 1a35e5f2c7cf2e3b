import { userStateFolder } from "../../adapters/git/repository.ts";
import { assertMayMakeToken } from "./author.ts";
import { makeToken, tokenMadeAt } from "./user-token.ts";

/** Makes the user's token for a person, or for a script that runs before any engine. */
export async function makeTokenFor(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
  rotate: boolean,
  now: number,
): Promise<{ readonly token: string | null; readonly madeAt: number }> {
  const userState = userStateFolder(env);
  await assertMayMakeToken(root, env);
  const madeAt = rotate ? null : await tokenMadeAt(userState);
  if (madeAt !== null) return { token: null, madeAt };
  return { token: await makeToken(userState, now), madeAt: now };
}
