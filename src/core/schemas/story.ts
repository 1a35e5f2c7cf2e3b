import { z } from "zod";
import { SPENT_BUDGETS } from "../stories/budget.ts";
import { TEST_POLICIES } from "../stories/scope.ts";
import { INCOMPLETE_CATEGORIES } from "../stories/reading.ts";
import { PHASES, STORY_FOLDERS, TDD_PHASES } from "../stories/story.ts";
import { amount, count, doer, roleNameSchema, storyIdSchema, text, texts } from "./scalars.ts";

const criterionSchema = z.strictObject({
  id: text,
  text,
  /** A person excused this scenario: it is shown, but no test has to verify it. */
  excused: z.strictObject({ by: text, reason: text }).exactOptional(),
});

/** A unit of work, as its file defined it when the event was written. */
export const storySchema = z.strictObject({
  id: storyIdSchema,
  title: text,
  /** A lower number is more urgent. */
  priority: z.number(),
  kind: text,
  labels: texts,
  dependsOn: z.array(storyIdSchema),
  criteria: z.array(criterionSchema),
  /** A story in the backlog is not worked on until a person makes it ready. */
  shelf: z.enum(STORY_FOLDERS),
  /** The whole text below the front matter, which tells the agent what to do. */
  body: text,
  /** Phases whose product exists already (`research_complete` and similar, S4.29). */
  completed: z.array(z.enum(PHASES)),
  /** The override of one story (S4.36). It counts reworks, so the limit of failures is one higher. */
  maxReworks: count.exactOptional(),
  /** Tests that fail at the base and must pass: names, files or patterns; `*` is every failure there. */
  target: texts.exactOptional(),
  /** Existing tests that the work may change: names, files or patterns. */
  tests: texts.exactOptional(),
  role: roleNameSchema.exactOptional(),
  /** S3.1: an oracle decides about this goal after its checks. Its role, or `true` for the configured role. */
  oracle: z.union([z.literal(true), roleNameSchema]).exactOptional(),
  /**
   * The branch on which another tool or a person began the work (S4.29): it is adopted, and the work continues on it.
   */
  branch: text.exactOptional(),
});

/** The phase and the role that get the brief. */
export const routeSchema = z.strictObject({
  phase: z.enum(PHASES),
  role: roleNameSchema,
  tddPhase: z.enum(TDD_PHASES).exactOptional(),
  /** Why the brief goes there, for readers of the trail. */
  reason: text,
});

export const scopeExceptionsSchema = z
  .enum(["ask", "with-rationale", "never"])
  .describe(
    "What becomes of an agent's reason for a change outside of the scope: it is shown to the person who decides (ask), it counts by itself (with-rationale), or it is not asked for (never).",
  );

/** What a rework may change. The engine compares the diff with it; the agent's own statement does not count. */
export const scopeSchema = z.strictObject({
  /** Path patterns; empty: every path of the worktree. */
  allow: texts,
  deny: texts,
  /** Files whose change was rejected: they may be restored, and not be changed in any other way. */
  restore: texts.exactOptional(),
  tests: z.enum(TEST_POLICIES),
  /** Whether the agent may go beyond `allow` if it gives a reason. */
  exceptions: scopeExceptionsSchema,
  reason: text,
});

/** A change outside the scope for which the agent gave a reason. The rules decide whether the reason counts. */
export const scopeExceptionSchema = z.strictObject({ path: text, rationale: text });

/** How a dispatch ended. After `ready` the gates run; no other outcome charges a rework budget. */
export const attemptOutcomeSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("ready") }),
  z.strictObject({
    type: z.literal("incomplete"),
    category: z.enum(INCOMPLETE_CATEGORIES),
    blocker: text,
    attempted: texts,
    needed: text,
    /** The story it waits for, in the agent's words. It may not be a story's id: the fold looks it up. */
    waitsFor: text.exactOptional(),
  }),
  z.strictObject({ type: z.literal("blocked"), issue: text }),
  /** The reply could not be read, even after the agent was asked again. */
  z.strictObject({ type: z.literal("unclear"), detail: text }),
  z.strictObject({ type: z.literal("crashed"), detail: text }),
  z.strictObject({ type: z.literal("timed-out"), afterMs: amount }),
  z.strictObject({ type: z.literal("rate-limited"), retryAt: amount }),
  z.strictObject({ type: z.literal("refused"), detail: text }),
  /** The agent cannot run until a person fixes something: no login, no credit. */
  z.strictObject({ type: z.literal("unusable"), detail: text, fix: text }),
  /** The agent does not exist here: not installed, renamed, discontinued. */
  z.strictObject({ type: z.literal("missing"), detail: text }),
  z.strictObject({ type: z.literal("stopped"), by: doer }),
  /** A budget was used up while the agent worked. Its work is kept, and a person is asked about the budget. */
  z.strictObject({ type: z.literal("cut-short"), budget: z.enum(SPENT_BUDGETS) }),
]);
