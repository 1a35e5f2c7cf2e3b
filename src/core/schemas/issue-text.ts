import type { z } from "zod";
import { plainText } from "../../stdx/plain-text.ts";

/** Describes a schema issue with its path on one line. Keys come from the document, so they are quoted and cut. */
export function issueText(issue: z.core.$ZodIssue): string {
  return `${pathText(issue.path)}: ${whatIsWrong(issue)}`;
}

function whatIsWrong(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") {
    const shown = issue.keys.slice(0, MOST_KEYS).map(quoteKey).join(", ");
    const more = issue.keys.length > MOST_KEYS ? ` and ${issue.keys.length - MOST_KEYS} more` : "";
    return `unknown key ${shown}${more}`;
  }
  if (issue.code === "invalid_union") return "no kind that this version knows";
  return issue.message;
}

function pathText(path: readonly PropertyKey[]): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else if (PLAIN_KEY.test(String(key))) text += `${text === "" ? "" : "."}${String(key)}`;
    else text += `[${quoteKey(String(key))}]`;
  }
  return text === "" ? "the whole" : text;
}

const PLAIN_KEY = /^[\w$-]{1,60}$/;
const MOST_KEYS = 3;
const LONGEST_KEY = 60;

function quoteKey(key: string): string {
  const cut = key.length > LONGEST_KEY ? `${key.slice(0, LONGEST_KEY)}…` : key;
  return JSON.stringify(plainText(cut));
}

type SchemaIssue = z.core.$ZodIssue;

/** Says in plain words what was expected, independent of the schema library's own message. */
export function expectedWords(issue: SchemaIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return KINDS[issue.expected] ?? issue.expected;
    case "invalid_value":
      return issue.values.length === 1 ? String(issue.values[0]) : `one of ${issue.values.map(String).join(", ")}`;
    case "invalid_union":
      return issue.errors.flatMap((errors) => errors.slice(0, 1).map(expectedWords)).join(" or ");
    case "too_small":
      return tooSmall(issue);
    case "too_big":
      return issue.origin === "string" ? `shorter than ${issue.maximum} characters` : `at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

function tooSmall(issue: z.core.$ZodIssueTooSmall): string {
  if (issue.origin === "string") return "some text";
  if (issue.origin === "array") return "a list with something in it";
  return issue.inclusive === false ? `more than ${issue.minimum}` : `at least ${issue.minimum}`;
}

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  record: "a map",
  null: "nothing",
};
