import type { SourceLocation, Problem } from "../../core/events/error.ts";
import { lineIndex, findFrontMatter, type FrontMatter } from "../../stdx/text-lines.ts";
import { nearMiss } from "../../stdx/plain-text.ts";
import { readYaml, type YamlMap, type YamlText, type YamlValue } from "./yaml-text.ts";

/** A parsed markdown file. `fields` is `null` if they could not be read at all; the problems say why. */
export interface MarkdownFile {
  readonly file: string;
  readonly fields: YamlMap | null;
  readonly yaml: YamlText;
  /** Without a byte order mark; offsets and lines refer to this text. */
  readonly text: string;
  readonly bodyStart: number;
  readonly problems: readonly Problem[];
}

export function readMarkdownFile(file: string, bytes: string): MarkdownFile {
  const text = bytes.startsWith("\uFEFF") ? bytes.slice(1) : bytes;
  const parts = findFrontMatter(text);
  const [from, to] = parts.kind === "closed" ? [parts.yamlStart, parts.yamlEnd] : [0, 0];
  const yaml = readYaml(file, text, from, to);
  const problems = [...yaml.problems];
  if (parts.kind !== "closed") problems.push(...misplacedProblems(file, text, parts));
  const unreadable = yaml.value === null && problems.some((problem) => problem.severity === "error");
  const fields = unreadable ? null : fieldsOf(yaml, problems);
  return { file, fields, yaml, text, bodyStart: parts.bodyStart, problems };
}

/** Returns the name of a markdown file without its folder and extension. */
export function fileName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).replace(/\.(?:md|markdown)$/i, "");
}

/** Reports text that was meant as front matter but is not. */
function misplacedProblems(file: string, text: string, parts: FrontMatter): Problem[] {
  if (parts.kind === "unterminated") {
    const hint = "Close it with a line of three hyphens: ---";
    return [{ ...lineAt(file, text, 0), severity: "error", message: "the front matter is not closed", hint }];
  }
  const start = text.search(/\S/);
  if (start <= 0 || findFrontMatter(text.slice(start)).kind !== "closed") return [];
  const hint = "Put its opening --- on the first line of the file, at the beginning of the line.";
  const message = "this is not read as front matter, because it does not begin the file";
  return [{ ...lineAt(file, text, start), severity: "warning", message, hint }];
}

function lineAt(file: string, text: string, offset: number): SourceLocation {
  const lines = lineIndex(text);
  const { line, column } = lines.at(offset);
  return { file, line, column, source: lines.text(line), length: 3 };
}

function fieldsOf(yaml: YamlText, problems: Problem[]): YamlMap | null {
  if (yaml.value === null) return {};
  if (isYamlMap(yaml.value)) return yaml.value;
  const hint = "Write one `key: value` on each line.";
  problems.push({
    ...yaml.valuePlace([]),
    severity: "error",
    message: "the front matter must be a list of keys",
    hint,
  });
  return null;
}

function isYamlMap(value: YamlValue | undefined): value is YamlMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a key is the user's own: its value is not checked. */
export const isOwnKey = (key: string): boolean => key.startsWith("x-");

/** Reads fields one by one, and reports problems with their location. A wrong value is read as missing. */
export interface FieldReader {
  text(key: string): string | undefined;
  flag(key: string): boolean | undefined;
  integer(key: string, least: number, most: number): number | undefined;
  /** A list of strings; a single string is a list of one. */
  texts(key: string): readonly string[] | undefined;
  complain(key: string, message: string, hint: string, index?: number): void;
  /** Reports each key that is nearly a known one as a likely typo. Returns the other unknown keys. */
  unknownKeys(known: readonly string[]): readonly string[];
}

export function fieldReader(fields: YamlMap, yaml: YamlText, problems: Problem[]): FieldReader {
  const complain: FieldReader["complain"] = (key, message, hint, index) => {
    const path = index === undefined ? [key] : [key, index];
    problems.push({ ...yaml.valuePlace(path), severity: "error", message, hint });
  };
  const valueOf = (key: string): YamlValue | undefined => {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
    return value === null ? undefined : value;
  };
  return {
    complain,
    text(key) {
      const value = valueOf(key);
      if (value === undefined || typeof value === "string") return value;
      if (typeof value !== "object") return String(value);
      complain(key, `\`${key}\` must be text, and is ${kindOf(value)}`, `Write it on one line: ${key}: …`);
      return undefined;
    },
    flag(key) {
      const value = valueOf(key);
      if (value === undefined || typeof value === "boolean") return value;
      complain(
        key,
        `\`${key}\` must be true or false, and is ${kindOf(value)}`,
        "Write true or false, without quotes.",
      );
      return undefined;
    },
    integer(key, least, most) {
      const value = valueOf(key);
      if (value === undefined) return undefined;
      const whole = typeof value === "number" && Number.isInteger(value);
      if (whole && value >= least && value <= most) return value;
      const said = typeof value === "number" ? String(value) : kindOf(value);
      complain(
        key,
        `\`${key}\` must be a whole number from ${least} to ${most}, and is ${said}`,
        "Write such a number.",
      );
      return whole ? Math.min(most, Math.max(least, value)) : undefined;
    },
    texts(key) {
      const value = valueOf(key);
      if (value === undefined) return undefined;
      if (typeof value === "string") return [value];
      if (Array.isArray(value)) return textItems(key, value as readonly YamlValue[], complain);
      complain(key, `\`${key}\` must be a list, and is ${kindOf(value)}`, `Write it as ${key}: [a, b]`);
      return undefined;
    },
    unknownKeys: (known) => unknownKeys(fields, yaml, known, problems),
  };
}

function unknownKeys(fields: YamlMap, yaml: YamlText, known: readonly string[], problems: Problem[]): string[] {
  return Object.keys(fields).filter((key) => {
    if (known.includes(key) || isOwnKey(key)) return false;
    const meant = nearMiss(key, known);
    if (meant === undefined) return true;
    const problem = { message: `unknown key "${key}"`, hint: `did you mean "${meant}"?` };
    problems.push({ ...yaml.keyPlace([key]), severity: "error", ...problem });
    return false;
  });
}

function textItems(key: string, items: readonly YamlValue[], complain: FieldReader["complain"]): string[] {
  return items.flatMap((item, index) => {
    if (typeof item === "string") return [item];
    if (item !== null && typeof item !== "object") return [String(item)];
    complain(
      key,
      `each item of \`${key}\` must be text, and this is ${kindOf(item)}`,
      "Write a word or a quoted text.",
      index,
    );
    return [];
  });
}

function kindOf(value: YamlValue): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
