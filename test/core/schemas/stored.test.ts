import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Event } from "../../../src/core/events/event.ts";
import type { RoleName } from "../../../src/core/events/ids.ts";
import { roleNameSchema, type Stored } from "../../../src/core/schemas/scalars.ts";

/* The comparisons of types hold or fail when the compiler runs. */
test("a stored type is readonly at every level, keeps its ids, and tells a missing field from an undefined one", () => {
  const schema = z.strictObject({
    role: roleNameSchema,
    list: z.array(z.strictObject({ b: z.int().exactOptional() })),
    pair: z.tuple([z.string(), z.string()]),
  });
  expect(schema.safeParse({ role: "critic", list: [{ b: undefined }], pair: ["a", "b"] }).success).toBe(false);
  expectTypeOf<Stored<typeof schema>>().toEqualTypeOf<{
    readonly role: RoleName;
    readonly list: readonly { readonly b?: number }[];
    readonly pair: readonly [string, string];
  }>();
});

test("an event is told apart by its type, and no other type is one", () => {
  expectTypeOf<Extract<Event, { type: "base.moved" }>>().toEqualTypeOf<{
    readonly type: "base.moved";
    readonly commit: string;
  }>();
  expectTypeOf<Extract<Event, { type: "story.lost" }>>().toBeNever();
});
