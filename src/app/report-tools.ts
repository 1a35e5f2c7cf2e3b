import type { Tool, ToolAnswer } from "../ports/agent.ts";
import { readToolReport, reportInputSchema, type ReportTool } from "../core/schemas/report.ts";

/** What was reported so far. A later report takes the place of an earlier one; disputes add up. */
export interface AgentReport {
  readonly value: Readonly<Record<string, unknown>> | null;
  readonly disputes: readonly { readonly about: string; readonly reason: string }[];
}

export const NOTHING_REPORTED: AgentReport = { value: null, disputes: [] };

/** Takes the reports of an agent that Remand started. */
export interface ReportTaker {
  /** Whose story it must be; `null`: any. */
  readonly story: string | null;
  /** What was reported before an engine died. */
  readonly before?: AgentReport | undefined;
  /** Says what becomes of it, for the model. */
  take(reported: AgentReport): Promise<string>;
}

/** The tools by which an agent reports. A report that is wrong is sent back with what is wrong, to be made again. */
export function reportTools(names: readonly ReportTool[], taker: ReportTaker): readonly Tool[] {
  let reported = taker.before ?? NOTHING_REPORTED;
  return names.map((name) => ({
    name,
    description: DESCRIPTIONS[name],
    inputSchema: reportInputSchema(name),
    isReading: false,
    async call(input): Promise<ToolAnswer> {
      const read = readToolReport(name, input);
      if (!read.ok) return refusal([...read.problems, "Nothing was recorded. Fix the input and call the tool again."]);
      if (taker.story !== null && read.story !== taker.story)
        return refusal([`story: this is about ${taker.story}, and you said ${read.story}. Call the tool again.`]);
      reported =
        "dispute" in read
          ? { ...reported, disputes: [...reported.disputes, read.dispute].slice(-MOST_DISPUTES) }
          : { ...reported, value: read.value };
      return { isError: false, text: await taker.take(reported), isLast: !("dispute" in read) };
    },
  }));
}

const MOST_DISPUTES = 100;

const refusal = (lines: readonly string[]): ToolAnswer => ({ isError: true, text: lines.join("\n") });

const DESCRIPTIONS: { readonly [T in ReportTool]: string } = {
  report_ready:
    "Report how your work on a story ended: ready, incomplete or blocked. Call it once, as the last thing you do.",
  report_verdict:
    "Report your verdict as a reviewer or auditor, with every issue. Call it once, as the last thing you do.",
  report_blocked:
    "Report that the environment is broken (a service, a tool, the machine), so that the work cannot be done.",
  ask_human: "Ask the person who answers for the work, when only they can decide. Your work on the story ends with it.",
  dispute_finding:
    "Say that a reviewer's finding is wrong, and why. Leave the code there as it is, then report as usual.",
};
