import { z } from "zod";
import { SEVERITIES } from "../gates/finding.ts";
import { INCOMPLETE_CATEGORIES } from "../stories/reading.ts";
import { CI_CLASSES, GATES } from "../gates/gate.ts";
import { issueText } from "./issue-text.ts";
import { count } from "./scalars.ts";

/*
 * What agents report by calling a tool. Each input is converted to the value that a verdict in a message would have,
 * and is checked by the same rules. Lengths are bounded, because a model writes the text.
 */
const words = z.string().trim().min(1).max(20_000);
const few = z.array(words).max(200);
const story = words.max(100).describe("the id of the story that you were given");

const readyInput = z
  .strictObject({
    story,
    outcome: z.enum(["ready", "incomplete", "blocked"]).describe("blocked: the environment is broken, not the work"),
    summary: words.describe("what you changed, and why"),
    filesModified: few.optional(),
    category: z.enum(INCOMPLETE_CATEGORIES).optional().describe("of incomplete: why you cannot finish"),
    blocker: words.optional().describe("of incomplete or blocked: what stops you"),
    attempted: few.optional().describe("of incomplete: what you tried"),
    needed: words.optional().describe("of incomplete: what would let you go on"),
  })
  .refine(({ outcome, blocker }) => outcome === "ready" || blocker !== undefined, {
    path: ["blocker"],
    error: "needed where the outcome is not ready",
  });

const verdictInput = z
  .strictObject({
    story,
    verdict: z.enum(["pass", "fail", "blocked"]).describe("blocked: the environment kept you from reviewing"),
    issues: z
      .array(
        z.strictObject({
          severity: z.enum(SEVERITIES),
          category: words,
          description: words,
          file: words.optional(),
          line: count.min(1).optional(),
          suggestedFix: words.optional(),
          criterion: words.optional(),
        }),
      )
      .max(500)
      .describe("everything that is wrong; a fail needs at least one"),
    summary: words.optional(),
    requiredFixes: few.optional(),
    context: few.optional().describe("what you learned that the author needs"),
    quality: z.record(words.max(200), words).optional(),
    verification: z
      .array(z.strictObject({ criterion: words, status: z.enum(["verified", "failed", "unknown"]), evidence: words }))
      .max(500)
      .optional()
      .describe("each acceptance criterion, where you were asked to verify them"),
    commands: z
      .array(z.strictObject({ command: words, environment: words.optional(), result: words }))
      .max(500)
      .optional(),
    filesReviewed: few.optional(),
  })
  .refine(({ verdict, issues }) => verdict !== "fail" || issues.length > 0, {
    path: ["issues"],
    error: "a fail without an issue tells the author nothing: list at least one",
  });

const blockedInput = z.strictObject({
  story,
  issue: words.describe("what is broken"),
  command: words.optional().describe("the command that shows it"),
  output: words.optional().describe("what it printed"),
});

const humanInput = z.strictObject({
  story,
  question: words.describe("one question that only a person can answer"),
  attempted: few.optional().describe("what you tried before asking"),
  why: words.optional().describe("what you will do with the answer"),
});

const disputeInput = z.strictObject({
  story,
  finding: z
    .string()
    .regex(/^(?:[0-9a-f]{16}|\d{1,3})$/, { error: "the finding's id (16 hex digits), or its number in the list" }),
  reason: words.max(2000).describe("why the finding is wrong; a reviewer who did not raise it decides"),
});

const INPUTS = {
  report_ready: readyInput,
  report_verdict: verdictInput,
  report_blocked: blockedInput,
  ask_human: humanInput,
  dispute_finding: disputeInput,
} as const;

export type ReportTool = keyof typeof INPUTS;

/** A report of an agent. `value` is what a verdict in a message would have; a dispute comes in addition to a report. */
export type ReadToolReport =
  | { readonly ok: true; readonly story: string; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: true; readonly story: string; readonly dispute: { readonly about: string; readonly reason: string } }
  | { readonly ok: false; readonly problems: readonly string[] };

export const reportInputSchema = (name: ReportTool): object => {
  const { $schema: _, ...schema } = z.toJSONSchema(INPUTS[name], { io: "input" });
  return schema;
};

/** Reads the input of a report, or describes its problems field by field. Never throws. */
export function readToolReport(name: ReportTool, input: unknown): ReadToolReport {
  switch (name) {
    case "report_ready":
      return toToolReport(readyInput.safeParse(input), workValue);
    case "report_verdict":
      return toToolReport(verdictInput.safeParse(input), ({ story: id, ...rest }) => ({ id, ...rest }));
    case "report_blocked":
      return toToolReport(blockedInput.safeParse(input), ({ story: id, issue, command, output }) => ({
        id,
        signal: "INFRA_BLOCKED",
        preExisting: [issue],
        summary: [issue, command, output].filter((part) => part !== undefined).join("; "),
      }));
    case "ask_human":
      return toToolReport(humanInput.safeParse(input), ({ story: id, question, attempted = [], why = question }) => ({
        id,
        signal: "TASK_INCOMPLETE",
        summary: question,
        incomplete: { category: "missing_info", blocker: question, attempted, needed: why },
      }));
    case "dispute_finding": {
      const read = disputeInput.safeParse(input);
      if (!read.success) return { ok: false, problems: read.error.issues.map(issueText) };
      const { finding: about, reason, story: id } = read.data;
      return { ok: true, story: id, dispute: { about, reason: reason.replaceAll(/\s+/g, " ") } };
    }
  }
}

function workValue(report: z.output<typeof readyInput>): Readonly<Record<string, unknown>> {
  const { story: id, outcome, summary, filesModified = [], category, blocker, attempted = [], needed = "" } = report;
  if (outcome === "ready") return { id, signal: "READY_FOR_REVIEW", summary, filesModified };
  if (outcome === "blocked") return { id, signal: "INFRA_BLOCKED", preExisting: [blocker], summary };
  return { id, signal: "TASK_INCOMPLETE", summary, incomplete: { category, blocker, attempted, needed } };
}

function toToolReport<T extends { readonly story: string }>(
  read: z.ZodSafeParseResult<T>,
  valueOf: (data: T) => Readonly<Record<string, unknown>>,
): ReadToolReport {
  if (!read.success) return { ok: false, problems: read.error.issues.slice(0, MOST).map(issueText) };
  return { ok: true, story: read.data.story, value: valueOf(read.data) };
}

const MOST = 20;

/** The `rework-log.json` of S1.44, to read a trail. */
const findingSchema = z.strictObject({
  severity: z.enum(["CRITICAL", "IMPORTANT", "SUGGESTION"]),
  file: z.string().nullable(),
  line: z.int().nullable(),
  description: z.string(),
});

const survivorSchema = z.strictObject({
  file: z.string(),
  line: z.int(),
  mutation: z.string(),
  recommended_test: z.string(),
});

/** S1.45 defines the first two; the others hold what the gate reports by S1.4, S1.27 and S0.19. */
const triggerSchema = z.union([
  z.strictObject({ stage: z.string(), findings: z.array(findingSchema) }),
  z.strictObject({ survivors: z.array(survivorSchema), score: z.string() }),
  z.strictObject({
    phase: z.enum(["RED", "DOMAIN", "GREEN", "COMMIT"]).nullable(),
    output: z.string(),
    concerns: z.array(z.string()),
  }),
  z.strictObject({ classification: z.enum(CI_CLASSES), step: z.string(), output: z.string() }),
  z.strictObject({
    failures: z.array(z.strictObject({ check: z.string(), environment: z.string(), details: z.string() })),
  }),
  z.strictObject({
    failed_criteria: z.array(z.strictObject({ criterion: z.string(), reason: z.string() })),
    findings: z.array(findingSchema),
  }),
  z.strictObject({ reasons: z.array(z.string()) }),
]);

export const reworkLogSchema = z.strictObject({
  slice_id: z.string(),
  rework_entries: z.array(
    z.strictObject({
      gate: z.enum(GATES),
      attempt: z.int().min(1),
      timestamp: z.iso.datetime(),
      trigger: triggerSchema,
      action_taken: z.string(),
      outcome: z.string(),
    }),
  ),
});
