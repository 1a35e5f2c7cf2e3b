import { z } from "zod";
import { LANGUAGES } from "../stories/language.ts";
import { IDENTITIES } from "../events/authority.ts";
import {
  type EscalationId,
  type EvidenceId,
  type Fingerprint,
  type RoleName,
  STORY_ID_PATTERN,
  type StoryId,
  type TreeId,
} from "../events/ids.ts";

/*
 * The plain values that stored documents consist of. No number may be infinite or NaN: JSON would store `null` instead.
 */
export const text = z.string();
export const texts = z.array(text);

/** A count, or the number of one item. */
export const count = z.int().min(0);

/** Money, a duration, or a time in milliseconds since 1970. */
export const amount = z.number().min(0);

export const confidence = z.number().min(0).max(1);

/** More than white space. */
const SAYS_SOMETHING = /\S/;

/** The person who did something. An answer without a name is rejected. */
export const doer = text.regex(SAYS_SOMETHING, { error: "a name is needed: who did this?" });

export const saysSomething = (words: string): boolean => SAYS_SOMETHING.test(words);

/** What a piece of work used. The first two are absent if the agent did not report its cost. */
export const cost = {
  costUsd: amount.exactOptional(),
  tokens: count.exactOptional(),
  durationMs: amount,
};

/*
 * The only code that turns text into branded ids. A brand exists only for the compiler, so the schema checks a plain
 * string and only its type changes.
 */
export const storyIdSchema = brandSchema<StoryId>(
  z.string().regex(STORY_ID_PATTERN, { error: "an id has letters, digits, dots, dashes and underscores, at most 100" }),
);
export const escalationIdSchema = brandSchema<EscalationId>(z.string().min(1));
export const fingerprintSchema = brandSchema<Fingerprint>(z.string().min(1));
export const treeIdSchema = brandSchema<TreeId>(z.string().min(1));
export const evidenceIdSchema = brandSchema<EvidenceId>(z.string().min(1));
export const roleNameSchema = brandSchema<RoleName>(z.string().min(1));

export function brandSchema<Id extends string>(schema: z.ZodString): z.ZodType<Id, string> {
  return schema as unknown as z.ZodType<Id, string>;
}

/**
 * Values by a name that people or agents chose. `__proto__` is refused: zod would silently drop it, and the stored
 * value would differ from the one that is read.
 */
export function byName<Key extends z.core.$ZodRecordKey, Value extends z.ZodType>(
  key: Key,
  value: Value,
): z.ZodPipe<z.ZodCustom<z.input<z.ZodRecord<Key, Value>>>, z.ZodRecord<Key, Value>> {
  return z
    .custom<z.input<z.ZodRecord<Key, Value>>>((given) => !(isObject(given) && Object.hasOwn(given, "__proto__")), {
      error: "`__proto__` cannot be a name here",
    })
    .pipe(z.record(key, value));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** A conversation with an agent that can be resumed. Only the adapter that created it can read it. */
export const sessionSchema = z.strictObject({
  agent: text,
  id: text,
  /** The worker whose machine stores it; other workers cannot resume it. Absent if there is only one machine. */
  host: text.exactOptional(),
  /** What the whole conversation has used so far, if the agent reports totals. */
  totals: z
    .strictObject({
      tokens: count,
      costUsd: amount.exactOptional(),
      /** How many of the tokens are input, and how much of the input was read from a cache. */
      input: count.exactOptional(),
      cached: count.exactOptional(),
    })
    .exactOptional(),
});

/** Who wrote an event, and how the author is known; older journals do not say how. */
export const author = { by: doer, identity: z.enum(IDENTITIES).exactOptional() };

const account = z.string().regex(/^[\w.[\]-]{1,100}$/, "the name of an account, such as `ada-l`");

export const peopleSchema = z
  .record(
    z.string().min(1).max(200),
    z.strictObject({ github: account.describe("The account on GitHub, such as `ada-l`.") }),
  )
  .describe("Who may answer on the forge, by name, with the account there. Only in your own configuration.")
  .optional();

/** Planted faults that people called equivalent (S1.15 requires that all others are found). */
export const equivalentMutantsSchema = z
  .array(
    z.strictObject({
      file: text.min(1).describe("Path of the mutated file, from the top folder."),
      mutation: text.min(1).describe("As the rework log has it: `replaced > with >=`."),
      by: text.min(1).describe("The person who decided it."),
      reason: text.min(1).describe("Why no test can notice it."),
    }),
  )
  .describe("Mutants that change no behavior, so that no test can notice them. They are shown and not counted.");

// The message of a format states what is expected, as a noun; the report puts the key before it and the value after it.
export const word = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
    "a name of letters, digits, `.`, `_` and `-`, the first a letter or a digit",
  );
export const line = z.string().min(1).max(2000);
export const globs = z.array(line);

/** A role that gets a failure instead of the developer. */
export const specialistSchema = z.strictObject({
  role: word.describe("Name of the role that gets the failure."),
  languages: z
    .array(z.enum(LANGUAGES))
    .describe("Languages whose failures go to this role, by the ending of the first file named; else use paths.")
    .optional(),
  paths: globs.describe("Patterns of paths; the first file that the failure names must match one.").optional(),
  categories: z
    .array(line)
    .describe("Categories of findings, such as `security`; the finding must have one.")
    .optional(),
});

/** The type of a schema's output: deeply readonly, so that stored values are never changed in place. */
export type Stored<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;

type DeepReadonly<T> = T extends Leaf ? T : { readonly [Key in keyof T]: DeepReadonly<T[Key]> };
type Leaf = string | number | boolean | null | undefined;
