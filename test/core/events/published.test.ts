import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Event } from "../../../src/core/events/event.ts";
import { readRecorded } from "../../../src/core/schemas/event.ts";
import { answer, recordedEvent } from "../../kit/story-world.ts";
import { EVENTS, recordedOf } from "../../kit/event-arbitraries.ts";
import { fits, type JsonSchema } from "./json-schema.ts";
import { escalation, judgement, story } from "../../kit/part-arbitraries.ts";

const schemaOf = (name: string): JsonSchema =>
  JSON.parse(readFileSync(new URL(`../../../schema/${name}.json`, import.meta.url), "utf8")) as JsonSchema;
const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("the published schema of a journal line, read by another tool", () => {
  const schema = schemaOf("event");

  test.each(Object.keys(EVENTS) as Event["type"][])("accepts and refuses the same %s as Remand", (type) => {
    fc.assert(
      fc.property(recordedOf(type), (line) => {
        const event = stored(line.event) as object;
        const whole = { ...line, event };
        expect(fits(whole, schema)).toBe(true);
        expect(fits({ ...whole, surprise: 1 }, schema)).toBe(false);
        expect(fits({ ...whole, event: { ...event, surprise: 1 } }, schema)).toBe(false);
        for (const key of Object.keys(event)) {
          const { [key]: _left, ...rest } = event as Record<string, unknown>;
          const without = { ...whole, event: rest };
          expect(fits(without, schema)).toBe(readRecorded(without).ok);
          const wrong = { ...whole, event: { ...event, [key]: [[]] } };
          expect(fits(wrong, schema)).toBe(readRecorded(wrong).ok);
        }
      }),
      { numRuns: 10 },
    );
  });

  test("requires a reason where Remand does", () => {
    const waived = (message: string) => fits(recordedEvent(0, "a", answer("waive", { message })), schema);
    expect([waived("it is known"), waived(" "), waived("")]).toEqual([true, false, false]);
    expect(fits(recordedEvent(0, "a", answer("resolve", { message: "" })), schema)).toBe(true);
    expect(fits(recordedEvent(0, "a", answer("resolve", { by: " " })), schema)).toBe(false);
  });
});

// S4.76
test.each([
  ["judgement", judgement],
  ["escalation", escalation],
  ["story", story],
] as const)("the published schema of a %s accepts all of them, and nothing else", (name, arbitrary) => {
  const schema = schemaOf(name);
  fc.assert(
    fc.property(arbitrary as fc.Arbitrary<object>, (value) => {
      const whole = stored(value) as object;
      expect(fits(whole, schema)).toBe(true);
      expect(fits({ ...whole, surprise: 1 }, schema)).toBe(false);
    }),
  );
});
