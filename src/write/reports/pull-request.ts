import { countText } from "../../stdx/plain-text.ts";
import type { GateName, Judgement } from "../../core/gates/gate.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { oneLine } from "../untrusted-text.ts";

/**
 * Writes the text of a pull request: the request, each criterion with its evidence, the gates that judged it, the
 * number of attempts, and what a person let through. The same story gives the same bytes.
 */
export function writePullRequest(state: StoryState): { readonly title: string; readonly body: string } {
  const { story } = state;
  const parts = [
    section("What", goalOf(state)),
    section("Acceptance criteria", criteria(state)),
    section("Judged by", gates(state)),
    section("Attempts", attempts(state)),
    section("Let through by a person", waivers(state)),
    `Made by Remand from story \`${inline(story.id)}\`, commit \`${inline(state.commit)}\`. \`remand show ${inline(story.id)}\` has every step.`,
  ];
  return {
    title: toLine(story.title).slice(0, LONGEST_TITLE),
    body: `${parts.filter((part) => part !== "").join("\n\n")}\n`,
  };
}

const LONGEST_TITLE = 120;
const LONGEST_GOAL = 4000;
const LONGEST_LINE = 300;

const section = (title: string, text: string): string => (text === "" ? "" : `## ${title}\n\n${text}`);

/** One line that cannot end a list, start a heading, mention a person, or refer to another issue. */
const toLine = (text: string): string => oneLine(text, null, LONGEST_LINE);
const quiet = (text: string): string => toLine(text).replaceAll(/([@#<>`*_[\]|])/g, "\\$1");
const inline = (text: string): string => toLine(text).replaceAll("`", "'");

/**
 * The story's text, written by a person: unchanged up to a length, without the criteria, which have their own section.
 */
function goalOf({ story }: StoryState): string {
  const text = (story.criteria.length === 0 ? story.body : story.body.replace(CRITERIA_SECTION, "")).trim();
  if (text.length <= LONGEST_GOAL) return text;
  return `${text.slice(0, LONGEST_GOAL)}\n\n(${countText(text.length - LONGEST_GOAL, "more character is", "more characters are")} in the story's file.)`;
}

const CRITERIA_SECTION = /^#{1,6} +acceptance criteria *$[^]*?(?=^#{1,6} |(?![^]))/im;

function criteria({ story, gates: known }: StoryState): string {
  const said = [known.audit, known.review, known.oracle].flatMap((gate) => gate?.last?.criteria ?? []);
  const audited = new Map(said.toReversed().map((each) => [each.criterion, each]));
  return story.criteria
    .map(({ id, text, excused }) => {
      if (excused !== undefined)
        return `- ${quiet(text)} — does not count, says ${quiet(excused.by)}: ${quiet(excused.reason)}`;
      const found = audited.get(id) ?? audited.get(text);
      const mark = found?.status === "verified" ? "x" : " ";
      const evidence = found === undefined || found.evidence === "" ? "" : ` — ${quiet(found.evidence)}`;
      return `- [${mark}] ${quiet(text)}${evidence}`;
    })
    .join("\n");
}

function gates({ gates: known }: StoryState): string {
  const judged = Object.values(known).flatMap((gate) => (gate.last === null ? [] : [{ ...gate, last: gate.last }]));
  if (judged.length === 0) return "";
  const rows = judged.map(
    ({ last, failuresEver }) => `| ${last.gate} | ${last.result} | ${failuresEver} | ${quiet(gateDetail(last))} |`,
  );
  return ["| gate | result | failed before | evidence |", "|---|---|---|---|", ...rows].join("\n");
}

function gateDetail({ gate, result, tests, summary, coverage }: Judgement): string {
  const counts = tests === undefined ? "" : `${tests.passed} of ${countText(tests.total, "test")} passed`;
  const share = coverage === undefined ? "" : `${coverage.lines} % of lines covered`;
  // Gate and result have columns of their own.
  const head = `${gate}: ${result}`;
  const rest = summary.startsWith(head) ? summary.slice(head.length).replace(/^,? */, "") : summary;
  return [counts, share].filter((part) => part !== "").join(", ") || rest;
}

function attempts({ attempts: all }: StoryState): string {
  return all
    .map(({ attempt, role, reworkOf, outcome, failed, summary }) => {
      const why =
        reworkOf === null ? "" : `, after ${reworkOf === "person" ? "a person" : `the ${reworkOf} gate`} sent it back`;
      const came = failed === "" ? outcome : failed;
      return `${attempt}. ${quiet(role)}${why}: ${quiet(summary === "" ? came : `${summary} → ${came}`)}`;
    })
    .join("\n");
}

function waivers({ waivers: all }: StoryState): string {
  const what = (gate: GateName, findings: number): string =>
    findings === 0 ? `the ${gate} gate` : `${countText(findings, "finding")} of the ${gate} gate`;
  return all
    .map(
      ({ gate, findings, by, reason }) => `- ${quiet(by)} let ${what(gate, findings.length)} through: ${quiet(reason)}`,
    )
    .join("\n");
}
