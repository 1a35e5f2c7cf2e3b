import { expect, test } from "vitest";
import { isMachineField, isMachineObject } from "../../../src/core/events/machine-fields.ts";
import { eventSchema } from "../../../src/core/schemas/event.ts";

/** As far as a schema is walked here. */
interface Def {
  readonly type: string;
  readonly shape?: Record<string, Schema>;
  readonly element?: Schema;
  readonly innerType?: Schema;
  readonly options?: readonly Schema[];
  readonly items?: readonly Schema[];
  readonly valueType?: Schema;
  readonly out?: Schema;
  readonly checks?: readonly unknown[];
}
interface Schema {
  readonly def: Def;
}

/** Every place of a text in an event that has to be exactly what was written: words of a list, and ids. */
function exactPlaces(schema: Schema, parent: string, name: string, found: Set<string>): Set<string> {
  const { def } = schema;
  if (def.type === "enum" || def.type === "literal") found.add(`${parent}.${name}`);
  // Ids and names have a rule; plain text has none.
  if (def.type === "string" && (def.checks ?? []).length > 0) found.add(`${parent}.${name}`);
  if (def.type === "object" && !isMachineObject(parent, name))
    for (const [key, value] of Object.entries(def.shape!)) exactPlaces(value, name, key, found);
  for (const inner of [def.element, def.innerType, def.out, ...(def.options ?? []), ...(def.items ?? [])])
    if (inner !== undefined) exactPlaces(inner, parent, name, found);
  if (def.valueType !== undefined && !isMachineObject(parent, name)) exactPlaces(def.valueType, name, "*", found);
  return found;
}

test("redaction leaves ids and words of fixed lists in an event unchanged", () => {
  const places = [...exactPlaces(eventSchema, "", "", new Set())];
  expect(places.length).toBeGreaterThan(60);
  const altered = places.filter((place) => {
    const [parent = "", name = ""] = place.split(".");
    return !isMachineField(parent, name);
  });
  // Ids of evidence are hashes of 64 digits, which no rule takes for a secret; flags are no texts.
  expect(altered.sort()).toEqual(["*.tests", ".isBaseOpen", ".lasting", "contested.isOfStory", "hidden.report"]);
});

test.each([
  ["finding", "message"],
  ["judgement", "summary"],
  ["", "summary"],
  ["story", "title"],
  ["story", "body"],
  ["answer", "message"],
  ["escalation", "question"],
  ["outcome", "detail"],
  ["identities", "failing"],
  ["lost", "why"],
])("text of people and agents is redacted: %s.%s", (parent, name) => {
  expect(isMachineField(parent, name)).toBe(false);
});
