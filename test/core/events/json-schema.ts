import { isDeepStrictEqual } from "node:util";

/** The part of JSON Schema that the published schemas are written in. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

const ANNOTATIONS = new Set(["$schema", "$id", "$defs", "title", "description", "default"]);

/** Does the value fit? An unknown keyword throws: an unchecked rule would be no rule. */
export function fits(value: unknown, schema: JsonSchema, root: JsonSchema = schema): boolean {
  return Object.entries(schema).every(([keyword, rule]) => {
    if (ANNOTATIONS.has(keyword)) return true;
    const holds = KEYWORDS[keyword];
    if (holds === undefined) throw new Error(`unknown keyword ${keyword}`);
    return holds(value, rule as never, schema, (inner, of) => fits(inner, of, root), root);
  });
}

type Fits = (value: unknown, schema: JsonSchema) => boolean;
type Keyword = (value: unknown, rule: never, schema: JsonSchema, fit: Fits, root: JsonSchema) => boolean;

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  $ref: (value, ref: string, _schema, fit, root) => fit(value, definition(ref, root)),
  type: (value, type: string | string[]) => [type].flat().some((one) => isOf(value, one)),
  const: (value, only: unknown) => isDeepStrictEqual(value, only),
  enum: (value, all: unknown[]) => all.some((one) => isDeepStrictEqual(value, one)),
  not: (value, other: JsonSchema, _schema, fit) => !fit(value, other),
  anyOf: (value, all: JsonSchema[], _schema, fit) => all.some((one) => fit(value, one)),
  oneOf: (value, all: JsonSchema[], _schema, fit) => all.filter((one) => fit(value, one)).length === 1,
  minimum: (value, least: number) => typeof value !== "number" || value >= least,
  maximum: (value, most: number) => typeof value !== "number" || value <= most,
  minLength: (value, least: number) => typeof value !== "string" || Array.from(value).length >= least,
  pattern: (value, pattern: string) => typeof value !== "string" || new RegExp(pattern, "u").test(value),
  minItems: (value, least: number) => !Array.isArray(value) || value.length >= least,
  maxItems: (value, most: number) => !Array.isArray(value) || value.length <= most,
  prefixItems: (value, items: JsonSchema[], _schema, fit) =>
    !Array.isArray(value) || items.every((item, index) => index >= value.length || fit(value[index], item)),
  items: (value, item: JsonSchema | false, { prefixItems = [] }, fit) =>
    !Array.isArray(value) ||
    value.slice((prefixItems as unknown[]).length).every((one) => item !== false && fit(one, item)),
  required: (value, keys: string[]) => !isMap(value) || keys.every((key) => Object.hasOwn(value, key)),
  propertyNames: (value, name: JsonSchema, _schema, fit) =>
    !isMap(value) || Object.keys(value).every((key) => fit(key, name)),
  properties: (value, known: Record<string, JsonSchema>, _schema, fit) =>
    !isMap(value) || Object.entries(known).every(([key, of]) => !Object.hasOwn(value, key) || fit(value[key], of)),
  additionalProperties: (value, other: JsonSchema | false, { properties = {} }, fit) =>
    !isMap(value) ||
    Object.keys(value).every(
      (key) => Object.hasOwn(properties as object, key) || (other !== false && fit(value[key], other)),
    ),
};

function definition(ref: string, root: JsonSchema): JsonSchema {
  const name = /^#\/\$defs\/([\w-]+)$/.exec(ref)?.[1];
  const found = (root["$defs"] as Record<string, JsonSchema> | undefined)?.[name ?? ""];
  if (found === undefined) throw new Error(`${ref} leads nowhere`);
  return found;
}

function isOf(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isMap(value);
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
