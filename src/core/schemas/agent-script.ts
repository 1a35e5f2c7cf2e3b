import { z } from "zod";
import { expectedWords } from "./issue-text.ts";

/**
 * A script for the scripted agent, as people write it: what the agent does in each call. Unknown keys are errors,
 * because a rehearsal with a misspelled, ignored step proves nothing. The message of a format is a noun; the report
 * adds what was found instead.
 */
const path = z.string().min(1).max(1000);
const duration = z
  .string()
  .regex(/^\d{1,9}(?:\.\d{1,3})?(?:ms|s|m|h)$/, "a length of time such as `500ms`, `2s` or `1m`");

const replacement = z.strictObject({ path, from: z.string().min(1), to: z.string() });

/** The ways in which a call can fail, by their names in the agent port. */
const ERROR_KINDS = [
  "auth",
  "rate-limit",
  "overloaded",
  "refused",
  "credit",
  "context-length",
  "bad-request",
  "launch",
  "crash",
] as const;

const attempt = z.strictObject({
  delay: duration.optional(),
  /** New contents by path; `null` deletes the file. */
  edit: z.record(path, z.union([z.string(), z.null()])).optional(),
  append: z.record(path, z.string()).optional(),
  replace: z.union([replacement, z.array(replacement)]).optional(),
  say: z.string().optional(),
  output: z.unknown().optional(),
  exit: z.int().min(0).max(255).optional(),
  crash: z.boolean().optional(),
  hang: z.boolean().optional(),
  garbage: z.boolean().optional(),
  error: z.enum(ERROR_KINDS).optional(),
  retryAfter: duration.optional(),
  cost: z.number().min(0).optional(),
  tokens: z.int().min(0).optional(),
});

const attempts = z.array(attempt).min(1);

/** What happens when there are more calls than attempts: the last attempt is repeated, or the call fails. */
const loop = z.enum(["last", "error"]);

const part = z.strictObject({
  match: z.strictObject({ role: z.string().min(1).optional(), story: z.string().min(1).optional() }).optional(),
  loop: loop.optional(),
  attempts,
});

const script = z.strictObject({
  version: z.literal(1).optional(),
  /** For an agent that acts the same for every story and role. */
  attempts: attempts.optional(),
  loop: loop.optional(),
  /** Parts for certain roles and stories: the first part that matches is used. */
  parts: z.array(part).min(1).optional(),
});

/** Every key of a script, to suggest a correction for a misspelled one. */
export const SCRIPT_KEYS: readonly string[] = [
  ...new Set([script, part, part.shape.match.unwrap(), attempt, replacement].flatMap((map) => Object.keys(map.shape))),
];

export interface ScriptIssue {
  readonly path: readonly (string | number)[];
  /** The unknown key, below the path; `null` if the value is wrong. */
  readonly unknownKey: string | null;
  /** What the value must be, as a noun. */
  readonly expected: string;
}

export function parseAgentScript(
  value: unknown,
): { document: z.infer<typeof script> } | { issues: readonly ScriptIssue[] } {
  const read = script.safeParse(value);
  if (read.success) return { document: read.data };
  return {
    issues: read.error.issues.flatMap((issue): ScriptIssue[] => {
      const path = issue.path as (string | number)[];
      if (issue.code !== "unrecognized_keys") return [{ path, unknownKey: null, expected: expectedWords(issue) }];
      return issue.keys.map((unknownKey) => ({ path, unknownKey, expected: "" }));
    }),
  };
}

export type ScriptedAttempt = z.infer<typeof attempt>;
export type ScriptPart = z.infer<typeof part>;

/**
 * The script of `remand rehearse`: what the model replies, request by request. Unknown keys are errors, because a
 * rehearsal with a misspelled, ignored reply proves nothing.
 */
const tokens = z.strictObject({ input: z.int().min(0), output: z.int().min(0) }).optional();
const replySchemas = [
  z.strictObject({ says: z.string(), tokens }),
  z.strictObject({
    calls: z.string().min(1),
    input: z.union([z.string(), z.record(z.string(), z.unknown())]),
    tokens,
  }),
  z.strictObject({ answers: z.record(z.string(), z.unknown()), tokens }),
  z.strictObject({ refuses: z.string(), tokens }),
  z.strictObject({
    fails: z.int().min(400).max(599),
    type: z.string().optional(),
    message: z.string().optional(),
    retryAfterSeconds: z.number().min(0).optional(),
  }),
  z.strictObject({ garbles: z.string() }),
  z.strictObject({ hangs: z.literal(true) }),
] as const;
const replies = z.array(z.union(replySchemas)).min(1);

const APIS = ["anthropic", "openai-responses", "openai-chat", "gemini"] as const;

const rehearsalPart = z.strictObject({
  match: z.strictObject({ api: z.enum(APIS).optional(), prompt: z.string().min(1).optional() }).optional(),
  replies,
});

const rehearsal = z
  .strictObject({
    version: z.literal(1).optional(),
    replies: replies.optional(),
    parts: z.array(rehearsalPart).min(1).optional(),
  })
  .refine((script) => (script.replies === undefined) !== (script.parts === undefined), {
    error: "a map with either `replies` or `parts`",
  });

export type RehearsalPart = z.infer<typeof rehearsalPart>;

/**
 * Parses a script into its parts, of which the first that matches a request gives the reply; or returns what is wrong.
 */
export function parseRehearsal(
  value: unknown,
): { readonly parts: readonly RehearsalPart[] } | { readonly issues: readonly RehearsalIssue[] } {
  const read = rehearsal.safeParse(value);
  if (!read.success) return { issues: read.error.issues.map(asIssue) };
  const { replies: all, parts } = read.data;
  return { parts: parts ?? [{ replies: all! }] };
}

export interface RehearsalIssue {
  readonly path: readonly (string | number)[];
  /** What the value must be, as a noun. */
  readonly expected: string;
}

const REPLY_KEYS = replySchemas.map((schema) => `\`${Object.keys(schema.shape)[0]!}\``).join(", ");

function asIssue(issue: z.core.$ZodIssue): RehearsalIssue {
  const path = issue.path as (string | number)[];
  if (issue.code === "unrecognized_keys")
    return { path, expected: `a map without the key "${issue.keys[0]!.slice(0, 60)}"` };
  if (issue.code === "invalid_union")
    return { path, expected: `a reply with one of ${REPLY_KEYS}, and no unknown key` };
  return { path, expected: expectedWords(issue) };
}
