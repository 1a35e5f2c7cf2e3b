import { z } from "zod";
import { SPENT_BUDGETS } from "../stories/budget.ts";
import { TEST_POLICIES } from "../stories/scope.ts";
import { INCOMPLETE_CATEGORIES } from "../stories/reading.ts";
import { PHASES, SHELVES, TDD_PHASES } from "../stories/story.ts";
import { amount, count, doer, roleNameSchema, storyIdSchema, text, texts } from "./scalars.ts";

const criterionSchema = z.strictObject({
  id: text,
  text,
  /** A person decided that this scenario does not count: it is shown, and nothing has to verify it. */
  excused: z.strictObject({ by: text, reason: text }).exactOptional(),
});

/** A unit of work, as its file defined it when the event was written. */
export const storySchema = z.strictObject({
  id: storyIdSchema,
  title: text,
  /** Lower is more urgent. */
  priority: z.number(),
  kind: text,
  labels: texts,
  dependsOn: z.array(storyIdSchema),
  criteria: z.array(criterionSchema),
  /** A story in the backlog is known, and is not worked on until a person makes it ready. */
  shelf: z.enum(SHELVES),
  /** The whole text below the front matter: what the agent is asked to do. */
  body: text,
  /** Phases whose product is already there (`research_complete` and its like, S4.29). */
  completed: z.array(z.enum(PHASES)),
  /** The override per story (S4.36); it counts reworks, so the limit on failures is one more. */
  maxReworks: count.exactOptional(),
  /** Tests that fail at the base and must pass: names, files or patterns; `*` is everything that fails there. */
  target: texts.exactOptional(),
  /** Existing tests that the work may change: names, files or patterns. */
  tests: texts.exactOptional(),
  role: roleNameSchema.exactOptional(),
  /** S3.1: an oracle decides about this goal after its checks; its role, or `true` for the one of the config. */
  oracle: z.union([z.literal(true), roleNameSchema]).exactOptional(),
  /** The branch on which another tool, or a person, has begun the work (S4.29): it is taken in, and goes on there. */
  branch: text.exactOptional(),
});

/** Which phase and which agent role gets the brief. */
export const routeSchema = z.strictObject({
  phase: z.enum(PHASES),
  role: roleNameSchema,
  tddPhase: z.enum(TDD_PHASES).exactOptional(),
  /** Why it goes there, for the person who reads the trail. */
  reason: text,
});

export const scopeExceptionsSchema = z
  .enum(["ask", "with-rationale", "never"])
  .describe(
    "What becomes of an agent's reason for a change outside of the scope: it is shown to the person who decides (ask), it counts by itself (with-rationale), or it is not asked for (never).",
  );

/** What a rework may touch. The engine compares the diff with it afterwards; the agent's word does not count. */
export const scopeSchema = z.strictObject({
  /** Path patterns; empty means every path of the worktree. */
  allow: texts,
  deny: texts,
  /** Files whose change was refused: they may be put back to what they were, and not be changed in any other way. */
  restore: texts.exactOptional(),
  tests: z.enum(TEST_POLICIES),
  /** May the agent go beyond `allow` when it gives a reason? */
  exceptions: scopeExceptionsSchema,
  reason: text,
});

/** A change beyond the scope that the agent gave a reason for. Whether it counts is for the rules. */
export const scopeExceptionSchema = z.strictObject({ path: text, rationale: text });

/** How a dispatch ended. Only `ready` goes on to the gates; none of the others charges a rework budget. */
export const attemptOutcomeSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("ready") }),
  z.strictObject({
    type: z.literal("incomplete"),
    category: z.enum(INCOMPLETE_CATEGORIES),
    blocker: text,
    attempted: texts,
    needed: text,
    /** The story it waits for, in the agent's words: it may be no story's id at all, and the fold looks it up. */
    waitsFor: text.exactOptional(),
  }),
  z.strictObject({ type: z.literal("blocked"), issue: text }),
  /** The reply could not be read, even after the agent was asked again. */
  z.strictObject({ type: z.literal("unclear"), detail: text }),
  z.strictObject({ type: z.literal("crashed"), detail: text }),
  z.strictObject({ type: z.literal("timed-out"), afterMs: amount }),
  z.strictObject({ type: z.literal("rate-limited"), retryAt: amount }),
  z.strictObject({ type: z.literal("refused"), detail: text }),
  /** The agent cannot be used at all until a person does something: no login, no credit. */
  z.strictObject({ type: z.literal("unusable"), detail: text, fix: text }),
  /** No such agent here: not installed, renamed, out of service. */
  z.strictObject({ type: z.literal("missing"), detail: text }),
  z.strictObject({ type: z.literal("stopped"), by: doer }),
  /** A budget was used up while it worked. Its work is kept, and a person is asked about the budget. */
  z.strictObject({ type: z.literal("cut-short"), budget: z.enum(SPENT_BUDGETS) }),
]);
