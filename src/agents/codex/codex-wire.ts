import { namelessSchema } from "../client/client-program.ts";
import { eventIn, listIn, type WireEvent } from "../client/client-wire.ts";
import type { AgentError } from "../../ports/agent.ts";

/**
 * Returns a schema that Codex's provider accepts: every field is required, and no other field is allowed. An optional
 * field becomes one that may be `null`, which `withoutNulls` removes again.
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

/** Names below these keywords are the user's own, not keywords. */
function strictIn(name: string, value: unknown): unknown {
  const named = name === "properties" || name === "$defs" || name === "definitions" ? eventIn(value) : null;
  if (named !== null) return Object.fromEntries(Object.entries(named).map(([each, schema]) => [each, strict(schema)]));
  return NO_SCHEMAS.has(name) ? value : strict(value);
}

const NO_SCHEMAS = new Set(["enum", "const", "required", "default", "examples"]);

const requiredIn = (schema: WireEvent): ReadonlySet<unknown> => new Set(listIn(schema["required"]));

/** Removes optional fields that are `null`. */
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

/** Classifies an error by its message, because Codex reports nothing else. */
export function codexError(message: string, nowMs: number): AgentError {
  const kind = KINDS.find(([, words]) => words.test(message))?.[0] ?? "crash";
  const retryAt = kind === "rate-limit" || kind === "overloaded" ? retryAtIn(message, nowMs) : null;
  const fix = FIXES[kind];
  return {
    kind,
    message: `codex: ${shorten(message)}`,
    ...(fix === undefined ? {} : { fix }),
    ...(retryAt === null ? {} : { retryAt }),
  };
}

/** The first match counts. Specific ones come first: a used-up quota also has status 429. */
const KINDS: readonly (readonly [AgentError["kind"], RegExp])[] = [
  ["context-length", /context_length_exceeded|context window|ran out of room/i],
  ["credit", /quota exceeded|insufficient_quota|exceeded your current quota|out of credits|status 402\b|add credits/i],
  ["refused", /invalid_prompt|invalid prompt|flagged for|was flagged|usage policy|content_filter|policy violation/i],
  ["rate-limit", /\b429\b|usage limit|rate limit/i],
  [
    "auth",
    /status 40[13]\b|not logged in|sign in again|log in again|missing bearer|api key|token could not be refresh/i,
  ],
  ["overloaded", /high demand|at capacity|overloaded|capacity (?:is )?unavailable|status 5\d\d\b|stream disconnected/i],
  ["overloaded", /error sending request|connection (?:refused|reset|closed|failed)|timed? ?out|network error/i],
  [
    "bad-request",
    /status 4\d\d\b|^\s*\{\s*"error"|invalid_request|invalid schema|model .* (?:not found|not supported)/i,
  ],
];

const FIXES: { readonly [K in AgentError["kind"]]?: string } = {
  auth: "run `codex login`, or set CODEX_API_KEY, then send the story back",
  credit: "add credit to the account that Codex uses, then send the story back",
  "bad-request": "look at the role's `model` and `args`, then send the story back",
  "context-length": "give the story less to read, or split it",
};

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Reads "try again in 20s", "try again in 3 days 2 hours". A time of day is ignored, because its time zone is unknown.
 */
function retryAtIn(message: string, nowMs: number): number | null {
  const [, wait = ""] = /try again in ((?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*(?:and\s+)?){1,4})/i.exec(message) ?? [];
  let ms = 0;
  for (const [, number = "", unit = ""] of wait.matchAll(/(\d+(?:\.\d+)?)\s*(ms|[smhd])/gi))
    ms += Number(number) * (UNITS_MS[unit.toLowerCase()] ?? 0);
  return ms === 0 ? null : nowMs + ms;
}

function shorten(message: string): string {
  const line = message.replaceAll(/\s+/g, " ").trim();
  return line.length > 500 ? `${line.slice(0, 500)}…` : line;
}
