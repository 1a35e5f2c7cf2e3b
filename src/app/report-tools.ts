import type { Tool, ToolAnswer } from "../ports/agent.ts";
import { readToolReport, reportInputSchema, type ReportTool } from "../core/schemas/report.ts";

/** What the agent has reported so far. A later report replaces an earlier one; disputes accumulate. */
export interface AgentReport {
  readonly value: Readonly<Record<string, unknown>> | null;
  readonly disputes: readonly { readonly about: string; readonly reason: string }[];
}

export const NOTHING_REPORTED: AgentReport = { value: null, disputes: [] };

/** Receives the reports of an agent that Remand started. */
export interface ReportTaker {
  /** The story that the report must be about; `null`: any. */
  readonly story: string | null;
  /** The reports from before an engine crash. */
  readonly before?: AgentReport | undefined;
  /** Stores the report; returns a message for the model about what happens next. */
  take(reported: AgentReport): Promise<string>;
}

/**
 * The tools through which an agent reports. An invalid report is rejected with the reasons, so that the agent can
 * repeat it.
 */
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
        return refusal([`story: wrong story ${read.story}; expected ${taker.story}. Call the tool again.`]);
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
