import type { ReportWay } from "../../core/stories/brief.ts";

/*
 * How an agent reports that it is done. Signals are printed in the middle of a line, never at column 0, so that an
 * agent that repeats its instructions sends no signal.
 */

export function howToReport(options: {
  readonly report: ReportWay;
  readonly spellOutFormat: boolean;
  readonly storyId: string;
}): string {
  const { report, spellOutFormat, storyId } = options;
  const way = WAYS[report](storyId);
  return ["### How to Report", "", way, ...(spellOutFormat ? ["", developerForms(storyId)] : [])].join("\n");
}

const WAYS: { readonly [W in ReportWay]: (storyId: string) => string } = {
  signal: signalWay,
  tool: toolWay,
  stop: () =>
    [
      "Simply stop when everything required here is done: the same commands judge it then. If you cannot finish, say what",
      "blocks you, what you tried and what you need, and stop.",
    ].join("\n"),
};

/**
 * For an author who considers a reviewer's finding wrong. In the middle of a line, so that repeating it disputes
 * nothing.
 */
export function howToDispute(): string {
  return [
    "If a finding above is wrong, do not work around it: leave the code as it is there, and say so in your report, on a",
    "line of its own: `Dispute: <id of the finding>: <why it is wrong>`. A reviewer who did not raise it decides whether",
    "it stands; a dispute without a reason is none.",
  ].join("\n");
}

function signalWay(storyId: string): string {
  return [
    "End your last message with one of these lines, outside quotes and code:",
    "",
    `- \`READY_FOR_REVIEW: ${storyId}\` - everything required here is done and the checks pass`,
    `- \`TASK_INCOMPLETE: ${storyId}\` - you cannot finish; say what blocks you, what you tried, what you need`,
    `- \`INFRA_BLOCKED: ${storyId}\` - the environment is broken, not the work`,
  ].join("\n");
}

function toolWay(storyId: string): string {
  return [
    `Call the tool \`report_ready\` once, as the last thing you do, with the story id \`${storyId}\` and one outcome:`,
    "",
    "- `ready` - when everything required here is done and the checks pass",
    "- `incomplete` - when you cannot finish; say what blocks you, what you tried, what you need",
    "- `blocked` - when the environment is broken and not the work",
    "",
    `Only if there is no such tool: end your last message with \`READY_FOR_REVIEW: ${storyId}\` at the start of a line.`,
  ].join("\n");
}

/**
 * The full format, for an agent whose earlier message could not be parsed. Indented, so that it is not a signal itself.
 */
function developerForms(storyId: string): string {
  return [
    "Your earlier message could not be read. These are the forms in full; leave out the indentation, replace what",
    "stands in angle brackets, and write nothing after them:",
    "",
    ...indentLines([
      `READY_FOR_REVIEW: ${storyId}`,
      "",
      "Files Modified:",
      "- <file>",
      "",
      "Commands Executed:",
      "- <command> (<environment>): PASS",
      "",
      "Environments Tested: <environment>, <environment>",
      "All Required Environments: VERIFIED",
      "",
      "Summary: <what you changed, and why it fixes what is listed>",
    ]),
    "",
    "or",
    "",
    ...indentLines([
      `TASK_INCOMPLETE: ${storyId}`,
      "",
      "Category: <missing_info|out_of_scope|blocked_by_dependency|infrastructure>",
      "Blocker: <what stops you>",
      "Attempted:",
      "- <what you tried>",
      "Needed: <what would let you go on>",
    ]),
    "",
    "or",
    "",
    ...indentLines([
      `INFRA_BLOCKED: ${storyId}`,
      "",
      "Issue: <what is broken>",
      "Command: <the command that shows it>",
      "Output: <what it printed>",
      "Environment: <where>",
    ]),
  ].join("\n");
}

export function indentLines(lines: readonly string[]): string[] {
  return lines.map((text) => (text === "" ? "" : `    ${text}`));
}
