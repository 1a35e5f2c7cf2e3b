import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { RemandError } from "../../core/events/error.ts";
import type { Agent, AgentRequest, AgentResult } from "../../ports/agent.ts";
import type { ReportTool } from "../../core/schemas/report.ts";
import { NOTHING_REPORTED, type AgentReport, reportTools } from "../../app/report-tools.ts";
import { openMcpServer, type McpAddress } from "../../adapters/mcp/transports.ts";
import type { KeptReports } from "../../adapters/process/agent-processes.ts";

const MAX_CHARS = 64 * 1024;

/**
 * Reads the project's instructions for all agents. They are read from the checkout when the run starts, not from a
 * worktree, where an agent could change what the next agent is told.
 */
export async function instructionsOf(root: string, names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const text = await readFile(join(root, name), "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      const hint = `Look at it: agents are told what it says.`;
      throw new RemandError("file-unreadable", `${name} cannot be read: ${error.message}`, hint, { cause: error });
    });
    if (text.trim() === "") continue;
    const cut = text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}\n(the rest of ${name} was left out)` : text;
    return `What this project tells all its contributors (${name}):\n\n${cut.trimEnd()}\n\nYour work:`;
  }
  return undefined;
}

/**
 * Wraps an agent whose client accepts tools: the agent reports by calling a tool, which has a schema and returns errors
 * that the agent can fix. The report becomes the result's structured output, unless the client gave one. An agent that
 * outlives the engine finds the next engine's tools at the same address, and its earlier reports still count.
 */
export function reportingAgent(agent: Agent, keptReports?: KeptReports): Agent {
  return {
    name: agent.name,
    async run(request, control) {
      const { report, outputSchema } = request;
      // An agent with an output schema already has a way to report.
      if (report === undefined || outputSchema !== null) return agent.run(request, control);
      const kept = keptReports?.open(request);
      const last = (kept?.last ?? null) as ReportSession | null;
      let reported = last?.reported ?? NOTHING_REPORTED;
      const names = TOOLS[report.kind];
      const tools = reportTools(names, {
        story: report.story,
        before: last?.reported,
        take: (all) => {
          reported = all;
          keep();
          return Promise.resolve("Recorded. Write what else you were asked for, then end your turn.");
        },
      });
      const server = await openMcpServer(tools, { version: "1" }, last);
      const keep = (): void =>
        kept?.write({ port: server.port, token: server.token, reported } satisfies ReportSession);
      try {
        keep();
        const mcpServer = { name: "remand", url: server.url, token: server.token, tools: names };
        const prompt = `${request.prompt}\n\n${hint(report)}`;
        return withReport(await agent.run({ ...request, prompt, mcpServer }, control), reported);
      } finally {
        kept?.close();
        await server.close();
      }
    },
  };
}

/** What the next engine needs if this one crashes. */
interface ReportSession extends McpAddress {
  readonly reported: AgentReport;
}

const TOOLS: { readonly [K in NonNullable<AgentRequest["report"]>["kind"]]: readonly ReportTool[] } = {
  work: ["report_ready", "report_blocked", "ask_human", "dispute_finding"],
  verdict: ["report_verdict"],
};

/** Some clients list tools only when the agent looks for them, so the prompt names them. */
function hint({ kind, story }: NonNullable<AgentRequest["report"]>): string {
  const tool = kind === "work" ? "report_ready" : "report_verdict";
  return [
    `The server \`remand\` offers you the tool \`${tool}\` (it may be listed as \`mcp__remand__${tool}\`). Where you can`,
    `call it, do so as the last thing, once, for the story \`${story}\`: what you give it counts before your message.`,
    "A message that contradicts it invalidates both.",
  ].join("\n");
}

/**
 * Adds the report to the result of a completed agent only: what a failed agent reported may describe an earlier state.
 */
function withReport(result: AgentResult, { value, disputes }: AgentReport): AgentResult {
  if (result.status !== "completed") return result;
  const summary = typeof value?.["summary"] === "string" ? value["summary"] : "";
  const text = result.text.trim() === "" ? summary : result.text;
  const lines = disputes.map(({ about, reason }) => `Dispute: ${about}: ${reason}`);
  return {
    ...result,
    text: [text, ...lines].filter((part) => part !== "").join("\n\n"),
    output: result.output ?? value,
  };
}
