import { type JsonSchema, keysOf, yamlText } from "./config-defaults.ts";

/**
 * Writes `docs/guide/config-keys.md` from the JSON Schema: every key of a config with its type, default and
 * description.
 */
export function configPage(schemaText: string): string {
  const root = JSON.parse(schemaText) as JsonSchema;
  const sections = Object.entries(keysOf(root)).map(([key, schema]) => ({ key, schema, rows: rowsOf(key, schema) }));
  const plain = sections.filter(({ rows }) => rows.length === 1).flatMap(({ rows }) => rows);
  const maps = sections.filter(({ rows }) => rows.length > 1);
  const gate = rowsOf("gates.<gate>", root.$defs!["config-gate"]!).slice(1);
  return [
    INTRODUCTION,
    table(plain),
    ...maps.flatMap(({ key, schema, rows }) => [`## ${key}\n`, `${schema.description}\n`, table(rows.slice(1))]),
    "## Keys of each gate\n",
    "A key with the name of a gate in front is read by that gate alone.\n",
    table(gate),
  ].join("\n");
}

const INTRODUCTION = `# Configuration keys

Every key of \`remand.yaml\`. [Configuration](config.md) explains how they work together. \`npm run schemas\` writes this page from the JSON Schema that editors use. A default that a preset changes says so; \`remand config --origin\` shows the values of your project.

\`<name>\` stands for a name that you choose, and \`[]\` for each entry of a list. A length of time is written \`90s\`, \`5m\` or \`1h30m\`.
`;

interface Row {
  readonly path: string;
  readonly value: string;
  readonly fallback: string;
  readonly description: string;
}

const table = (rows: readonly Row[]): string =>
  [
    "| key | value | default | what it does |",
    "|---|---|---|---|",
    ...rows.map(
      ({ path, value, fallback, description }) => `| \`${path}\` | ${value} | ${fallback} | ${description} |`,
    ),
    "",
  ].join("\n");

function rowsOf(path: string, schema: JsonSchema): readonly Row[] {
  const { description = "" } = schema;
  const own = { path, value: valueText(schema), fallback: defaultText(schema), description: cell(description) };
  return [own, ...innerKeys(schema).flatMap(([step, inner]) => rowsOf(path + step, inner))];
}

/** The keys below a key, including those of list entries and of maps with free names. */
function innerKeys(schema: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  const below = (mark: string, inner: unknown): readonly (readonly [string, JsonSchema])[] =>
    isSchema(inner) ? Object.entries(keysOf(inner)).map(([key, each]) => [`${mark}.${key}`, each] as const) : [];
  return [...below("", schema), ...below(".<name>", schema.additionalProperties), ...below("[]", schema.items)];
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null;

function valueText(schema: JsonSchema): string {
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((value) => code(String(value))).join(", ");
  if (schema.anyOf !== undefined) {
    const kinds = schema.anyOf.filter(({ type }) => type !== "null").map((each) => valueText(each));
    return [...new Set(kinds)].join(" or ");
  }
  const { items } = schema;
  if (schema.type === "array") return isSchema(items) ? `list: ${valueText(items)}` : "list";
  return schema.$ref === undefined ? (KINDS[String(schema.type)] ?? String(schema.type)) : "map";
}

const KINDS: Readonly<Record<string, string>> = {
  boolean: "`true`, `false`",
  integer: "number",
  number: "number",
  object: "map",
  string: "text",
};

/** A longer default is only in the schema; `remand config` prints it. */
const LONGEST_DEFAULT = 200;

function defaultText({ default: value }: JsonSchema): string {
  if (value === undefined || value === null) return "";
  const text = yamlText(value);
  return text.length > LONGEST_DEFAULT ? "see `remand config`" : code(text);
}

const code = (text: string): string => `\`${cell(text)}\``;

const cell = (text: string): string => text.replaceAll("|", "\\|");
