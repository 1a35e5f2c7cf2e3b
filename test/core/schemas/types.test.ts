import { expectTypeOf, test } from "vitest";
import type { z } from "zod";
import type { AttemptOutcome } from "../../../src/core/stories/attempt.ts";
import type { Blame } from "../../../src/core/blame/blame.ts";
import type { BudgetName } from "../../../src/core/stories/budget.ts";
import type { Escalation } from "../../../src/core/stories/escalation.ts";
import type { Answer, Event, Recorded } from "../../../src/core/events/event.ts";
import type { Finding } from "../../../src/core/gates/finding.ts";
import type { Judgement } from "../../../src/core/gates/gate.ts";
import type { Policy } from "../../../src/core/events/policy.ts";
import type { Route, Scope } from "../../../src/core/stories/scope.ts";
import type { Story } from "../../../src/core/stories/story.ts";
import type {
  answerSchema,
  attemptOutcomeSchema,
  blameSchema,
  eventSchema,
  routeSchema,
  storySchema,
} from "../../../src/core/schemas/event.ts";
import type { budgetNameSchema, escalationSchema } from "../../../src/core/schemas/escalation.ts";
import type { findingSchema, judgementSchema } from "../../../src/core/schemas/gate-result.ts";
import type { policySchema } from "../../../src/core/schemas/policy.ts";
import type { recordedSchema } from "../../../src/core/schemas/recorded.ts";
import type { scopeSchema } from "../../../src/core/schemas/scalars.ts";

/**
 * A type with its intersections merged and everything readonly. Two of them are compared field by field: to be
 * assignable to each other is not enough, for then a field that may be missing could be added on one side alone.
 */
type Plain<T> = T extends Leaf ? T : { readonly [K in keyof T]: Plain<T[K]> };
type Leaf = string | number | boolean | null | undefined;

/*
 * These hold or fail when the compiler runs, not when the tests do: a field, a value or an event that was added
 * to the domain alone, or to a schema alone, is a type error here.
 */
test("the schemas say what the domain's types say, part by part and as a whole", () => {
  expectTypeOf<Plain<z.output<typeof findingSchema>>>().toEqualTypeOf<Plain<Finding>>();
  expectTypeOf<Plain<z.output<typeof blameSchema>>>().toEqualTypeOf<Plain<Blame>>();
  expectTypeOf<Plain<z.output<typeof judgementSchema>>>().toEqualTypeOf<Plain<Judgement>>();
  expectTypeOf<Plain<z.output<typeof attemptOutcomeSchema>>>().toEqualTypeOf<Plain<AttemptOutcome>>();
  expectTypeOf<Plain<z.output<typeof budgetNameSchema>>>().toEqualTypeOf<Plain<BudgetName>>();
  expectTypeOf<Plain<z.output<typeof escalationSchema>>>().toEqualTypeOf<Plain<Escalation>>();
  expectTypeOf<Plain<z.output<typeof answerSchema>>>().toEqualTypeOf<Plain<Answer>>();
  expectTypeOf<Plain<z.output<typeof routeSchema>>>().toEqualTypeOf<Plain<Route>>();
  expectTypeOf<Plain<z.output<typeof scopeSchema>>>().toEqualTypeOf<Plain<Scope>>();
  expectTypeOf<Plain<z.output<typeof storySchema>>>().toEqualTypeOf<Plain<Story>>();
  expectTypeOf<Plain<z.output<typeof policySchema>>>().toEqualTypeOf<Plain<Policy>>();
  expectTypeOf<Plain<z.output<typeof eventSchema>>>().toEqualTypeOf<Plain<Event>>();
  expectTypeOf<Plain<z.output<typeof recordedSchema>>>().toEqualTypeOf<Plain<Recorded>>();
});

test("the comparison sees a difference of any kind", () => {
  interface One {
    readonly a: string;
    readonly list: readonly { readonly b?: number }[];
    readonly kind: "x" | "y";
  }
  type Changed<T> = Omit<One, keyof T> & T;
  expectTypeOf<Plain<One>>().toEqualTypeOf<Plain<{ a: string } & { list: { b?: number }[] } & { kind: "x" | "y" }>>();
  // @ts-expect-error -- a field that must be there
  expectTypeOf<Plain<One>>().toEqualTypeOf<Plain<One & { c: string }>>();
  // @ts-expect-error -- a field that may be missing
  expectTypeOf<Plain<One>>().toEqualTypeOf<Plain<One & { c?: string }>>();
  // @ts-expect-error -- a field deep inside
  expectTypeOf<Plain<One>>().toEqualTypeOf<Plain<Changed<{ list: { b?: number; c?: string }[] }>>>();
  // @ts-expect-error -- a field that may be there and undefined
  expectTypeOf<Plain<One>>().toEqualTypeOf<Plain<Changed<{ list: { b?: number | undefined }[] }>>>();
  // @ts-expect-error -- a value more
  expectTypeOf<Plain<One>>().toEqualTypeOf<Plain<Changed<{ kind: "x" | "y" | "z" }>>>();
  // @ts-expect-error -- a value less
  expectTypeOf<Plain<One>>().toEqualTypeOf<Plain<Changed<{ kind: "x" }>>>();
  // @ts-expect-error -- a wider type
  expectTypeOf<Plain<One>>().toEqualTypeOf<Plain<Changed<{ kind: string }>>>();
  // @ts-expect-error -- an event more
  expectTypeOf<Plain<Event>>().toEqualTypeOf<Plain<Event | { readonly type: "story.lost" }>>();
  // @ts-expect-error -- a plain string is no id
  expectTypeOf<Plain<Route>>().toEqualTypeOf<Plain<Omit<Route, "role"> & { role: string }>>();
  // @ts-expect-error -- anything at all
  expectTypeOf<Plain<One>>().toEqualTypeOf<Plain<Changed<{ a: any }>>>(); // oxlint-disable-line typescript/no-explicit-any
});
