import { test } from "vitest";
import type { z } from "zod";
import type { AttemptOutcome } from "../../src/domain/attempt.ts";
import type { Blame } from "../../src/domain/blame.ts";
import type { BudgetName } from "../../src/domain/budget.ts";
import type { Escalation } from "../../src/domain/escalation.ts";
import type { Answer, Event, Recorded } from "../../src/domain/event.ts";
import type { Finding } from "../../src/domain/finding.ts";
import type { Judgement } from "../../src/domain/gate.ts";
import type { Policy } from "../../src/domain/policy.ts";
import type { Route } from "../../src/domain/route.ts";
import type { Scope } from "../../src/domain/scope.ts";
import type { Story } from "../../src/domain/story.ts";
import type { answerSchema } from "../../src/schemas/answer.ts";
import type { attemptOutcomeSchema } from "../../src/schemas/attempt-outcome.ts";
import type { blameSchema } from "../../src/schemas/blame.ts";
import type { budgetNameSchema } from "../../src/schemas/budget.ts";
import type { escalationSchema } from "../../src/schemas/escalation.ts";
import type { eventSchema } from "../../src/schemas/event.ts";
import type { findingSchema } from "../../src/schemas/finding.ts";
import type { judgementSchema } from "../../src/schemas/judgement.ts";
import type { policySchema } from "../../src/schemas/policy.ts";
import type { recordedSchema } from "../../src/schemas/recorded.ts";
import type { routeSchema } from "../../src/schemas/route.ts";
import type { scopeSchema } from "../../src/schemas/scope.ts";
import type { storySchema } from "../../src/schemas/story.ts";
import { expectSame, type Same } from "./same-type.ts";

/*
 * These hold or fail when the compiler runs, not when the tests do: a field, a value or an event that was added
 * to the domain alone, or to a schema alone, is a type error here.
 */
test("the schemas say what the domain's types say, part by part and as a whole", () => {
  expectSame<Same<z.output<typeof findingSchema>, Finding>>();
  expectSame<Same<z.output<typeof blameSchema>, Blame>>();
  expectSame<Same<z.output<typeof judgementSchema>, Judgement>>();
  expectSame<Same<z.output<typeof attemptOutcomeSchema>, AttemptOutcome>>();
  expectSame<Same<z.output<typeof budgetNameSchema>, BudgetName>>();
  expectSame<Same<z.output<typeof escalationSchema>, Escalation>>();
  expectSame<Same<z.output<typeof answerSchema>, Answer>>();
  expectSame<Same<z.output<typeof routeSchema>, Route>>();
  expectSame<Same<z.output<typeof scopeSchema>, Scope>>();
  expectSame<Same<z.output<typeof storySchema>, Story>>();
  expectSame<Same<z.output<typeof policySchema>, Policy>>();
  expectSame<Same<z.output<typeof eventSchema>, Event>>();
  expectSame<Same<z.output<typeof recordedSchema>, Recorded>>();
});

test("the comparison sees a difference of any kind", () => {
  interface One {
    readonly a: string;
    readonly list: readonly { readonly b?: number }[];
    readonly kind: "x" | "y";
  }
  type Changed<T> = Omit<One, keyof T> & T;
  expectSame<Same<One, { a: string } & { list: { b?: number }[] } & { kind: "x" | "y" }>>();
  // @ts-expect-error -- a field that must be there
  expectSame<Same<One, One & { c: string }>>();
  // @ts-expect-error -- a field that may be missing
  expectSame<Same<One, One & { c?: string }>>();
  // @ts-expect-error -- a field deep inside
  expectSame<Same<One, Changed<{ list: { b?: number; c?: string }[] }>>>();
  // @ts-expect-error -- a field that may be there and undefined
  expectSame<Same<One, Changed<{ list: { b?: number | undefined }[] }>>>();
  // @ts-expect-error -- a value more
  expectSame<Same<One, Changed<{ kind: "x" | "y" | "z" }>>>();
  // @ts-expect-error -- a value less
  expectSame<Same<One, Changed<{ kind: "x" }>>>();
  // @ts-expect-error -- a wider type
  expectSame<Same<One, Changed<{ kind: string }>>>();
  // @ts-expect-error -- an event more
  expectSame<Same<Event, Event | { readonly type: "story.lost" }>>();
  // @ts-expect-error -- a plain string is no id
  expectSame<Same<Route, Omit<Route, "role"> & { role: string }>>();
  // @ts-expect-error -- anything at all
  expectSame<Same<One, Changed<{ a: any }>>>(); // oxlint-disable-line typescript/no-explicit-any
});
