import type { CriterionResult } from "../../domain/gate.ts";
import type { Reading } from "../../domain/reading.ts";
import type { Criterion } from "../../domain/story.ts";

/**
 * What an audit says of each criterion of the story, in the story's order, then what else it looked at. A criterion
 * that it does not mention is `unknown`: silence proves nothing. One that is called both is failed.
 */
export function criteriaResults(criteria: readonly Criterion[], reading: Reading): CriterionResult[] {
  const said = [
    ...reading.verification,
    ...reading.passing.map((criterion) => ({ criterion, status: "verified" as const, evidence: "" })),
  ];
  const own = criteria.map((criterion, index): CriterionResult => {
    const about = said.filter((each) => isAbout(each.criterion, criterion, index, criteria.length));
    const told =
      about.find(({ status }) => status === "failed") ??
      about.find(({ status, evidence }) => status === "verified" && evidence !== "") ??
      about.find(({ status }) => status === "verified");
    return { criterion: criterion.text, status: told?.status ?? "unknown", evidence: told?.evidence ?? "" };
  });
  const other = said.filter(
    (each) =>
      each.status !== "unknown" && !criteria.some((one, index) => isAbout(each.criterion, one, index, criteria.length)),
  );
  return [...own, ...other.map(({ criterion, status, evidence }) => ({ criterion, status, evidence }))];
}

/** The criteria, in the prompt's words, that an audit has to name and did not. */
export function unmentioned(criteria: readonly Criterion[], reading: Reading): string[] {
  const results = criteriaResults(criteria, reading);
  return criteria.flatMap(({ id, text }, index) =>
    results[index]?.status === "unknown" ? [`Is ${id} verified, or has it failed, and what shows it? ${text}`] : [],
  );
}

/** The criterion of the story that an auditor means, so that it is the same one each time; else as the auditor put it. */
export function criterionMeant(criteria: readonly Criterion[], said: string): string {
  return criteria.find((one, index) => isAbout(said, one, index, criteria.length))?.text ?? said;
}

/** By its id, by its number, by its words, or by so many of them that nothing else can be meant. */
function isAbout(said: string, { id, text }: Criterion, index: number, count: number): boolean {
  const words = bare(said);
  if (words === "") return false;
  const [own, name] = [bare(text), bare(id)];
  if (words === own || words === name || words === `criterion ${index + 1}`) return true;
  if (words.startsWith(`${name} `)) return true;
  // `1.` and `#1` count the list; `1 of 3` does too.
  if (new RegExp(`^(?:criterion )?${index + 1}(?: of ${count})?$`).test(words)) return true;
  const [shorter, longer] = words.length < own.length ? [words, own] : [own, words];
  return shorter.length >= SHORTEST_PART && longer.includes(shorter);
}

/** A shorter piece of a sentence could be a piece of many. */
const SHORTEST_PART = 12;

/** Words alone: what people put around them differs. */
function bare(text: string): string {
  return text
    .slice(0, 1000)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}.]+/gu, " ")
    .replace(/\.(?=\s|$)/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}
