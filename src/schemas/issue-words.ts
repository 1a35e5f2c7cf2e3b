import type { z } from "zod";

type Issue = z.core.$ZodIssue;

/** What should stand there, in plain words, whatever the schema's library would say. */
export function expectedWords(issue: Issue): string {
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
