import type { AssignmentRequest, HistoryRequest } from "../../core/stories/prompt.ts";
import type { Phase, TddPhase } from "../../core/stories/story.ts";
import { scopePart, triedLines } from "../briefs/parts.ts";
import {
  type BriefWriter,
  type BriefPiece,
  bullets,
  evidenceFence,
  instruction,
  line,
  name,
  note,
  restOf,
  section,
  joinPieces,
} from "../briefs/brief-writer.ts";
import { howToReport } from "../briefs/report.ts";
import { SECTION_OF_PHASE, type TextPhase } from "../edits/story-sections.ts";
import { dataNotice } from "../untrusted-text.ts";
import { criteriaList, diffFence, promptPen, start } from "./prompt-parts.ts";

/**
 * The prompt of the first attempt: there is nothing to fix yet, so it says what is wanted and how the work will be
 * judged.
 */
export function writeAssignmentPrompt(request: AssignmentRequest, options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  const id = name(pen, request.story.id);
  const task = request.tddPhase === undefined ? PHASE_TASK[request.phase] : TDD_TASK[request.tddPhase];
  return `${joinPieces([
    start(
      pen,
      request.rolePrompt,
      "## Assignment",
      `Task ID: ${id}`,
      `Title: ${line(pen, request.story.title)}`,
      `Phase: ${request.phase}`,
    ),
    section("### Goal", instruction(pen, request.story.goal, pen.limits.goalChars, "the goal")),
    section("### Acceptance Criteria", criteriaList(pen, request.criteria)),
    section("### Your Part", task),
    section("### What Earlier Phases Made", productsPart(pen, request.products, request.phase)),
    section(
      "### What Is Known",
      bullets(pen, request.context, (text) => line(pen, text), { what: "notes" }),
    ),
    section(
      "### Guidance From a Person",
      bullets(pen, request.guidance, (text) => note(pen, text), { what: "notes" }),
    ),
    scopePart(request.scope, pen),
    section(
      "### What Will Judge It",
      bullets(pen, request.judgedBy, (command) => `\`${line(pen, command)}\``, { what: "commands" }),
    ),
    howToReport({ report: request.report, spellOutFormat: request.spellOutFormat, storyId: id }),
    "Begin.",
  ])}\n`;
}

/** Products of earlier phases, which agents wrote: they are input for the work, and not instructions. */
function productsPart(pen: BriefWriter, products: AssignmentRequest["products"], phase: Phase): BriefPiece {
  if (products.length === 0) return "";
  const pieces = products.map((product) =>
    diffFence(
      pen,
      product.text,
      product.phase === phase ? `${product.heading}, from the last time this was done` : product.heading,
    ),
  );
  const isAgain = products.some((product) => product.phase === phase);
  return joinPieces(["Build on what is said here.", ...pieces, isAgain ? STILL_RIGHT : ""]);
}

const STILL_RIGHT =
  "Your own section is out of date where what it was built on has changed. Keep what is still right in it.";

const inMessage = (phase: TextPhase): string =>
  [
    `Give it in your last message, the whole of it, under the heading \`## ${SECTION_OF_PHASE[phase]}\` and before the`,
    "signal. It is written into the story file for you: change no file.",
  ].join("\n");

const PHASE_TASK: Readonly<Record<Phase, string>> = {
  refine: [
    "Make the story clear enough to be worked on: user, purpose, testable criteria, edge cases. Your product is its",
    `section of the story file.\n\n${inMessage("refine")}`,
  ].join("\n"),
  research: [
    "Find out what the work needs to know: existing code, constraints, risks, options. Your product is the research",
    `section of the story file.\n\n${inMessage("research")}`,
  ].join("\n"),
  plan: [
    "Plan the work in steps that can each be checked. Your product is the plan section of the story file.",
    `\n${inMessage("plan")}`,
  ].join("\n"),
  implement: "Do the work, with tests that would fail without it, and run the commands that judge it.",
};

const TDD_TASK: Readonly<Record<TddPhase, string>> = {
  red: "RED: write the next failing test, and see it fail for the right reason. Change tests only.",
  domain: "DOMAIN: give the concepts their types, and raise concerns about the model. Change types only.",
  green: "GREEN: write the least production code that makes the test pass. Change production code only.",
  commit: "COMMIT: record the work as it stands, with all tests passing. Change nothing.",
};

/** Precedes a brief or an assignment, for an agent without the earlier conversation. */
export function writeHistory(request: HistoryRequest, options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  const { message } = request;
  return `${joinPieces([
    "## What Was Done Before",
    INTRODUCTION,
    dataNotice(pen.nonce),
    attempts(request, pen),
    message.trim() === ""
      ? ""
      : section("### What the Last Attempt Said", evidenceFence(pen, message, "its last message")),
    "---",
  ])}\n`;
}

const INTRODUCTION = [
  "You have worked on this story before, in a conversation that is on another machine and cannot be gone on with.",
  "The files here are as that work left them, and `git log` shows each attempt as a commit of its own. What you are",
  "to do now follows below.",
].join("\n");

function attempts({ attempts: all }: HistoryRequest, pen: BriefWriter): BriefPiece {
  const shown = all.slice(-pen.limits.earlier);
  const short = { ...pen, limits: { ...pen.limits, itemChars: pen.limits.earlierChars } };
  const lines = shown.map((each) => {
    const { attempt, phase, summary, failed } = each;
    const end = failed === "" ? "nothing was said against it yet" : line(short, failed);
    const text = `- Attempt ${attempt} (${phase}): ${summary === "" ? "no summary" : line(short, summary)} -> ${end}`;
    return [text, ...triedLines(each, short)].join("\n");
  });
  return [...restOf(pen, all.length - shown.length, "earlier attempts"), ...lines].join("\n");
}
