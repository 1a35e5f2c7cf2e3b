import { z } from "zod";
import { expectedWords } from "./issue-text.ts";

/**
 * The script of `remand rehearse`: what the model replies, request by request. Unknown keys are errors, because a
 * misspelt reply that is silently left out makes a rehearsal that proves nothing.
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

const part = z.strictObject({
  match: z.strictObject({ api: z.enum(APIS).optional(), prompt: z.string().min(1).optional() }).optional(),
  replies,
});

const rehearsal = z
  .strictObject({
    version: z.literal(1).optional(),
    replies: replies.optional(),
    parts: z.array(part).min(1).optional(),
  })
  .refine((script) => (script.replies === undefined) !== (script.parts === undefined), {
    error: "a map with either `replies` or `parts`",
  });

export type RehearsalPart = z.infer<typeof part>;

/** The parts of a script, of which the first that fits a request gives the reply; or what is wrong with it. */
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
  /** What is expected there, as a noun. */
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
