import { expect, test } from "vitest";
import { type JsonSchema, keysOf } from "../../scripts/config-defaults.ts";
import { schemaFiles } from "../../scripts/published-schemas.ts";
import { DEFAULTS } from "../../src/config/defaults.ts";

const root = JSON.parse(schemaFiles().get("config.json")!) as JsonSchema;

const isSchema = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null;

/** Every key at any depth, with its schema. */
function keysBelow(schema: JsonSchema, path: string): readonly (readonly [string, JsonSchema])[] {
  const own = Object.entries(keysOf(schema)).flatMap(([key, inner]) => [
    [`${path}${key}`, inner] as const,
    ...keysBelow(inner, `${path}${key}.`),
  ]);
  const entries = [schema.additionalProperties, schema.items].filter(isSchema);
  return [...own, ...entries.flatMap((entry) => keysBelow(entry, `${path}*.`))];
}

const keys = [...keysBelow(root, ""), ...keysBelow(root.$defs!["config-gate"]!, "gates.*.")];

test("every key of a config has a description that says more than its name", () => {
  const words = ([path, { description = "" }]: readonly [string, JsonSchema]): readonly string[] => {
    const name = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
    return description
      .toLowerCase()
      .split(/\W+/)
      .filter((word) => word !== "" && word !== name);
  };
  expect(keys.filter((key) => words(key).length < 2).map(([path]) => path)).toEqual([]);
  expect(keys.filter(([, { description = "" }]) => !/[.?]$/.test(description)).map(([path]) => path)).toEqual([]);
  expect(keys.length).toBeGreaterThan(190);
});

test("every default is in the schema, and a default that a preset changes names the preset", () => {
  const missing = keys.flatMap(([path, schema]) => {
    const value = path.split(".").reduce<unknown>((at, key) => (isSchema(at) ? at[key] : undefined), DEFAULTS);
    const isInner = isSchema(value) && !Array.isArray(value);
    return value === undefined || isInner || JSON.stringify(schema.default) === JSON.stringify(value) ? [] : [path];
  });
  expect(missing).toEqual([]);
  const found = new Map(keys);
  expect(found.get("limits.iterations")?.default).toBe(30);
  expect(found.get("limits.iterations")?.description).toMatch(/Preset goal: `15`\.$/);
  expect(found.get("gates.*.reruns")?.default).toBe(1);
  expect(found.get("gates.mutation")?.default).toMatchObject({ threshold: 100 });
  expect(found.get("sandbox.network")?.default).toBe("shared");
});
