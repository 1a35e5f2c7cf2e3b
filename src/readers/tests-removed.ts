import { plainText } from "../stdx/plain-text.ts";

/**
 * The author's reason for fewer tests than before: a line `Tests removed: <reason>` of its message, at its beginning.
 * `null`: none was given.
 */
export function readTestsRemoved(message: string): string | null {
  const reason = /^Tests removed:[ \t]*(\S.*)$/m.exec(plainText(message))?.[1]?.trim() ?? "";
  return /\p{L}{2}/u.test(reason) ? reason.slice(0, LONGEST) : null;
}

const LONGEST = 500;
