import type { Escalation } from "../../src/core/stories/escalation.ts";
import { isEmptyPhrase } from "../../src/decide/escalation-text.ts";

/**
 * "Needs a human" is not a question. Says what is missing for a person to be able to act; empty when nothing is: one
 * question, why it stopped and what to do about it, both by the names of things, and answers that differ.
 */
export function escalationProblems(escalation: Escalation): string[] {
  const { question, assessment, recommendation, options } = escalation;
  const facts = factsOf(escalation);
  const namesFact = (text: string): boolean => facts.some((fact) => text.toLowerCase().includes(fact));
  const problems: string[] = [];
  if (!question.trim().endsWith("?") || isEmptyPhrase(question)) problems.push("there is no question to answer");
  if (isEmptyPhrase(assessment)) problems.push("it does not say why it stopped");
  else if (!namesFact(assessment)) problems.push("why it stopped names nothing that is known");
  if (isEmptyPhrase(recommendation)) problems.push("it recommends nothing");
  else if (!namesFact(recommendation)) problems.push("what it recommends names nothing that is known");
  if (new Set(options.map(({ verb }) => verb)).size < 2) problems.push("there is nothing to choose between");
  if (options.some(({ does }) => isEmptyPhrase(does))) problems.push("an answer does not say what it will do");
  if (options.some(({ cost }) => isEmptyPhrase(cost))) problems.push("an answer does not say what it will cost");
  return problems;
}

/** What is known and can be named: the gate, and whatever the reason counts, quotes or points at. */
function factsOf({ gate, reason }: Escalation): string[] {
  const { type: _kind, ...values } = reason;
  const words = Object.values(values).flatMap((value: string | number | readonly string[]) =>
    // A cause and its hint.
    typeof value === "object" ? [...value] : [String(value), ...String(value).split(/ — |\n/)],
  );
  // A number, or a word such as `missing_info`, is found in a sentence as people write it.
  const all = [...words, ...words.map((word) => word.replaceAll(/[_-]/g, " ")), ...(gate === null ? [] : [gate])];
  return all.map((word) => word.trim().toLowerCase()).filter((word) => word !== "");
}
