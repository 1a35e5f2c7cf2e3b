import { isDeepStrictEqual } from "node:util";
import { stringify } from "yaml";
import type { z } from "zod";
import { DEFAULTS } from "../src/config/defaults.ts";
import { PRESET_PARTS } from "../src/config/presets.ts";

export type JsonSchema = z.core.JSONSchema.BaseSchema;

type Values = Readonly<Record<string, unknown>>;
type PresetValues = readonly (readonly [preset: string, value: unknown])[];

/** Adds the default of each key to the schema of a config, and the values of presets to its description. */
export function addConfigDefaults(root: JsonSchema): void {
  const presets = Object.entries(PRESET_PARTS);
  // The gates share one definition, so a default that differs between gates is given per gate.
  const perGate = Object.values(DEFAULTS.gates) as readonly unknown[] as readonly Values[];
  const [first = {}, ...others] = perGate;
  const isShared = ([key, value]: readonly [string, unknown]): boolean =>
    others.every((gate) => isDeepStrictEqual(gate[key], value));
  const shared = Object.fromEntries(Object.entries(first).filter(isShared));
  addDefaults(root.$defs!["config-gate"]!, shared, []);
  const own = (gate: Values): Values =>
    Object.fromEntries(Object.entries(gate).filter(([key]) => !Object.hasOwn(shared, key)));
  const gates = Object.fromEntries(
    Object.entries(DEFAULTS.gates).map(([name, gate]) => [name, own(gate as unknown as Values)]),
  );
  addDefaults(root, { ...DEFAULTS, gates }, presets);
}

function addDefaults(map: JsonSchema, values: Values, presets: PresetValues): void {
  for (const [key, schema] of Object.entries(keysOf(map))) {
    const value = values[key];
    const changes = presets.flatMap(([preset, part]): PresetValues => {
      const inner = isMap(part) ? part[key] : undefined;
      return inner === undefined || isDeepStrictEqual(inner, value) ? [] : [[preset, inner]];
    });
    if (Object.keys(keysOf(schema)).length > 0) addDefaults(schema, isMap(value) ? value : {}, changes);
    else {
      if (value !== undefined && !(isMap(value) && Object.keys(value).length === 0)) schema.default = value;
      const notes = changes.map(([preset, inner]) => ` Preset ${preset}: \`${yamlText(inner)}\`.`);
      if (notes.length > 0) schema.description = `${schema.description ?? ""}${notes.join("")}`;
    }
  }
}

/** The keys of a map, or of the only alternative that is a map with keys. */
export function keysOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  if (schema.properties !== undefined) return schema.properties as Record<string, JsonSchema>;
  const maps = (schema.anyOf ?? []).map((each) => keysOf(each)).filter((keys) => Object.keys(keys).length > 0);
  return maps[0] ?? {};
}

/** Writes a value on one line, as people do. */
export const yamlText = (value: unknown): string =>
  stringify(value, { collectionStyle: "flow", flowCollectionPadding: true, lineWidth: 0 }).trim();

const isMap = (value: unknown): value is Values => typeof value === "object" && value !== null && !Array.isArray(value);
