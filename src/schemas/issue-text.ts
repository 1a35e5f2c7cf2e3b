import type { z } from "zod";
import { plainText } from "../stdx/plain-text.ts";

/**
 * What a schema found, in a line: the path of the field, and what is wrong with it. Keys come from the document,
 * so they are quoted and cut: a message must not be as long, or as strange, as what it complains about.
 */
export function issueText(issue: z.core.$ZodIssue): string {
  return `${pathText(issue.path)}: ${whatIsWrong(issue)}`;
}

function whatIsWrong(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") {
    const shown = issue.keys.slice(0, MOST_KEYS).map(quoted).join(", ");
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
    else text += `[${quoted(String(key))}]`;
  }
  return text === "" ? "the whole" : text;
}

const PLAIN_KEY = /^[\w$-]{1,60}$/;
const MOST_KEYS = 3;
const LONGEST_KEY = 60;

function quoted(key: string): string {
  const cut = key.length > LONGEST_KEY ? `${key.slice(0, LONGEST_KEY)}…` : key;
  return JSON.stringify(plainText(cut));
}
