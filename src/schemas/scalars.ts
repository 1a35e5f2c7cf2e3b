import { z } from "zod";

/*
 * The plain values that stored documents are made of. None of the numbers may be infinite or no number at all:
 * JSON would turn those into `null` on the way to the disk.
 */
export const text = z.string();
export const texts = z.array(text);

/** How many, or which one of several. */
export const count = z.int().min(0);

/** Money, a length of time, a moment in milliseconds since 1970. */
export const amount = z.number().min(0);

export const confidence = z.number().min(0).max(1);

/** Text that says something: more than white space. */
const SAYS_SOMETHING = /\S/;

/** Who did it. What nobody answers for is not accepted. */
export const doer = text.regex(SAYS_SOMETHING, { error: "a name is needed: who did this?" });

export const saysSomething = (words: string): boolean => SAYS_SOMETHING.test(words);

/** What a piece of work used. An agent that did not say what it cost leaves the first two out. */
export const cost = {
  costUsd: amount.exactOptional(),
  tokens: count.exactOptional(),
  durationMs: amount,
};
