import { namelessSchema } from "../client/client-program.ts";
import { eventIn, listIn, type WireEvent } from "../client/client-wire.ts";

/**
 * The provider takes only schemas in which every field is required and no other field is let in. So a field that may
 * be left out is asked for as one that may be `null`, and is taken out again by `withoutNulls`.
 */
export function strictSchema(schema: object): object {
  return strict(namelessSchema(schema)) as object;
}

function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  const fields = eventIn(schema);
  if (fields === null) return schema;
  const inner = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, strictIn(name, value)]));
  const properties = eventIn(inner["properties"]);
  if (properties === null) return inner;
  const required = requiredIn(fields);
  return {
    ...inner,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, value]) => [
        name,
        required.has(name) ? value : { anyOf: [value, { type: "null" }] },
      ]),
    ),
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** The names below these are the user's, and not the schema's. */
function strictIn(name: string, value: unknown): unknown {
  const named = name === "properties" || name === "$defs" || name === "definitions" ? eventIn(value) : null;
  if (named !== null) return Object.fromEntries(Object.entries(named).map(([each, schema]) => [each, strict(schema)]));
  return NO_SCHEMAS.has(name) ? value : strict(value);
}

const NO_SCHEMAS = new Set(["enum", "const", "required", "default", "examples"]);

const requiredIn = (schema: WireEvent): ReadonlySet<unknown> => new Set(listIn(schema["required"]));

/** What came for a field that may be left out, and is `null`, was left out. */
export function withoutNulls(value: unknown, schema: unknown, root: unknown = schema): unknown {
  const form = resolveReference(eventIn(schema), root);
  if (form === null) return value;
  if (Array.isArray(value)) return value.map((each) => withoutNulls(each, form["items"], root));
  const fields = eventIn(value);
  const properties = eventIn(form["properties"]);
  if (fields === null || properties === null) return value;
  const required = requiredIn(form);
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name, each]) => each !== null || required.has(name) || !Object.hasOwn(properties, name))
      .map(([name, each]) => [name, withoutNulls(each, properties[name], root)]),
  );
}

function resolveReference(schema: WireEvent | null, root: unknown): WireEvent | null {
  const reference = schema?.["$ref"];
  if (typeof reference !== "string" || !reference.startsWith("#/")) return schema;
  let at: unknown = root;
  for (const step of reference.slice(2).split("/")) at = eventIn(at)?.[step];
  return eventIn(at);
}
