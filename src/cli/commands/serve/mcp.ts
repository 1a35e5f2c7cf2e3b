import { dirname } from "node:path";
import { EXIT, INTERRUPTED, type CliCommand, type ExitCode, type Interrupt, type World } from "../../../app/command.ts";
import { readTools } from "../../look-tools.ts";
import { reportTools, type AgentReport, type ReportTaker } from "../../../app/report-tools.ts";

const EXAMPLES = `Examples:
  claude mcp add remand -- npx remand mcp        the tools, in Claude Code
  remand mcp -C ~/project                        for any other client: this command, on its standard input and output

Tools: gate, blame, brief, status; report_ready, report_verdict, report_blocked, ask_human, dispute_finding.
The last five report to the run of Remand that started the agent; where there is none, they say so.
`;

/** `remand mcp`: Remand's parts as tools, by the Model Context Protocol. */
export const command: CliCommand = {
  name: "mcp",
  summary: "offer Remand's tools to an agent, on the standard input and output",
  register(command, world, done) {
    command.addHelpText("before", EXAMPLES).action(async () => done(await mcp(world)));
  },
};

async function mcp(world: World): Promise<ExitCode> {
  const stop = new AbortController();
  let interrupt: Interrupt | null = null;
  const unhook = world.onInterrupt((signal) => {
    interrupt = signal;
    stop.abort();
  });
  const reports = reportTools(
    ["report_ready", "report_verdict", "report_blocked", "ask_human", "dispute_finding"],
    takerOf(world),
  );
  try {
    await world.host.offer([...readTools(world), ...reports], { version: world.version, signal: stop.signal });
    return interrupt === null ? EXIT.ok : INTERRUPTED[interrupt];
  } finally {
    unhook();
  }
}

/** A run tells its agents where to leave their result; without that file no run waits for one. */
function takerOf(world: World): ReportTaker {
  const file = world.env["REMAND_RESULT_FILE"];
  return {
    story: null,
    async take(reported) {
      if (file === undefined || file === "")
        return "The report is valid, but no run of Remand started you, so it is not recorded. Put it in your last message instead.";
      await world.files.write(file, `${JSON.stringify(resultOf(reported))}\n`);
      return `Recorded in ${dirname(file)}. It is read when you end.`;
    },
  };
}

/** As a program that is an agent leaves it. */
function resultOf({ value, disputes }: AgentReport): object {
  const lines = disputes.map(({ about, reason }) => `Dispute: ${about}: ${reason}`);
  return { ...(lines.length === 0 ? {} : { text: lines.join("\n") }), ...(value === null ? {} : { output: value }) };
}
