import { dirname } from "node:path";
import { type CliCommand, EXIT, type ExitCode, INTERRUPTED, type Interrupt, type World } from "../../../app/command.ts";
import { type AgentReport, type ReportTaker, reportTools } from "../../../app/report-tools.ts";
import { knownDurationMs } from "../../../config/duration.ts";
import { RemandError } from "../../../core/events/error.ts";
import { isPassed } from "../../../core/gates/gate-report.ts";
import type { Tool, ToolAnswer } from "../../../ports/agent.ts";
import { isRecord } from "../../../stdx/assert.ts";
import { entries } from "../../../stdx/sorted-map.ts";
import { blameDocument } from "../../../views/board/check-reports.ts";
import { problemText } from "../../../write/reports/problem-text.ts";
import { blameText } from "../../blame-text.ts";
import { formatGates } from "../../gate-formats.ts";
import { planGates } from "../../../app/gate-plan.ts";
import { keptBrief } from "../../kept-brief.ts";
import { loadConfig } from "../../../app/load-config.ts";
import { resolveIds } from "../../../app/option-values.ts";
import { runDocument } from "../../json-fields.ts";
import { glyphsFor, paintFor } from "../../terminal-kind.ts";
import { rolesOfGate } from "../../../app/agent-spec.ts";

const EXAMPLES = `Examples:
  claude mcp add remand -- remand mcp            the tools, in Claude Code
  remand mcp -C ~/project                        for any other client: this command, on its standard input and output

Tools: gate, blame, brief, status; report_ready, report_verdict, report_blocked, ask_human, dispute_finding.
The last five report to the run of Remand that started the agent; where there is none, they say so.
`;

/** `remand mcp`: offers Remand's parts as MCP tools. */
export const command: CliCommand = {
  name: "mcp",
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

/** Writes reports to the file that a run names to its agents. Without that variable, no run waits for a report. */
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

/** Formats the report like the result file of a command agent. */
function resultOf({ value, disputes }: AgentReport): object {
  const lines = disputes.map(({ about, reason }) => `Dispute: ${about}: ${reason}`);
  return { ...(lines.length === 0 ? {} : { text: lines.join("\n") }), ...(value === null ? {} : { output: value }) };
}

/**
 * The parts of the loop as tools for an agent. Only the config names the commands that judge the work: an agent can
 * choose a gate, and cannot bring its own command.
 */
export function readTools(world: World): readonly Tool[] {
  return [gateTool(world), blameTool(world), briefTool(world), statusTool(world)];
}

function gateTool(world: World): Tool {
  return {
    name: "gate",
    description:
      "Run the configured gates that need no agent on the files as they are. Call it before you say that work is done.",
    inputSchema: fields({
      only: { type: "array", items: { type: "string" }, description: "names of gates" },
      base: BASE,
    }),
    isReading: true,
    call: guardTool(async (input, signal) => {
      const names = listIn(input, "only");
      const { plan, problems } = await planGates(world, { names, at: null, base: refIn(input, "base"), all: false });
      if (plan === null) return wrongConfig(problems.map((problem) => problemText(problem, { color: false })));
      const gates = plan.gates.filter((gate) => rolesOfGate(plan.policy, gate).length === 0);
      if (gates.length === 0) return { isError: true, text: "No gate is configured that can run without an agent." };
      const report = await world.host.gate(world.cwd, { ...plan, ...QUIET, gates, signal, isForAgent: true });
      const setting = { version: world.version, glyphs: glyphsFor(world.env), paint: paintFor(false), fields: null };
      const data = JSON.parse(formatGates(report, "json", setting)) as Record<string, unknown>;
      return {
        isError: false,
        text: formatGates(report, "text", setting),
        data: { passed: isPassed(report), ...data },
      };
    }),
  };
}

function blameTool(world: World): Tool {
  return {
    name: "blame",
    description:
      "Find which part of the change broke a check, and prove it by runs elsewhere. Your files are only read.",
    inputSchema: fields({
      failure: { type: "string", description: "what the failed check printed; without it the check is run first" },
      check: {
        type: "string",
        description: "which of the configured checks, by its name or command (default: the first)",
      },
      base: BASE,
      prove: { type: "boolean", description: "false: only rank, by reading; nothing is run" },
    }),
    isReading: true,
    call: guardTool(async (input, signal) => {
      const { config, problems } = await loadConfig(world, {});
      if (config === null) return wrongConfig(problems.map((problem) => problemText(problem, { color: false })));
      const checks = config.gates.checks.commands.map((each) =>
        typeof each === "string" ? { name: each, run: each } : { name: each.name, run: each.run },
      );
      const wanted = textIn(input, "check");
      const check = wanted === null ? checks[0] : checks.find(({ name, run }) => name === wanted || run === wanted);
      if (wanted !== null && check === undefined)
        throw wrong(
          `check: ${wanted} is not configured; there are ${checks.map(({ run }) => run).join(", ") || "none"}`,
        );
      const output = textIn(input, "failure");
      if (output === null && check === undefined) throw wrong("failure: needed, since no check is configured");
      const { runs, time, prove } = config.blame;
      const report = await world.host.blame(world.cwd, {
        config,
        output,
        command: check?.run ?? null,
        prove: prove && input["prove"] !== false,
        at: null,
        base: refIn(input, "base"),
        limits: { runs, timeMs: knownDurationMs(time) },
        signal,
        onRun: () => undefined,
        onNotice: () => undefined,
      });
      return { isError: false, text: blameText(report, paintFor(false)), data: blameDocument(report) };
    }),
  };
}

function briefTool(world: World): Tool {
  return {
    name: "brief",
    description:
      "The brief that a story's work was sent back with: what failed, why, what to fix, what may be touched.",
    inputSchema: fields(
      { story: { type: "string" }, attempt: { type: "integer", minimum: 1, description: "default: the newest" } },
      ["story"],
    ),
    isReading: true,
    call: guardTool(async (input) => {
      const story = textIn(input, "story");
      if (story === null) throw wrong("story: needed, a text");
      const attempt = input["attempt"] ?? "newest";
      if (attempt !== "newest" && !Number.isSafeInteger(attempt)) throw wrong("attempt: must be a whole number");
      const { text, ...about } = await keptBrief(world, story, attempt as number | "newest");
      return { isError: false, text, data: about };
    }),
  };
}

function statusTool(world: World): Tool {
  return {
    name: "status",
    description: "Where each story is, who must act, what was spent.",
    inputSchema: fields({ stories: { type: "array", items: { type: "string" }, description: "default: all" } }),
    isReading: true,
    call: guardTool(async (input) => {
      const typed = listIn(input, "stories");
      const run = await world.host.readOutline(world.cwd);
      if (run === null) return { isError: false, text: "Nothing has run here yet.", data: { stories: [] } };
      const asked =
        typed.length === 0
          ? null
          : resolveIds(
              typed,
              [...entries(run.stories)].map(([id]) => id),
            );
      const data = runDocument(run, asked, "remand.status/1");
      return { isError: false, text: JSON.stringify(data, null, 2), data: { ...data } };
    }),
  };
}

const QUIET = { onOutput: () => undefined, onNotice: () => undefined };
const BASE = { type: "string", description: "what to compare with, a ref of git (default: found by itself)" };

function fields(properties: object, required: readonly string[] = []): object {
  return { type: "object", properties, required, additionalProperties: false };
}

type Input = Readonly<Record<string, unknown>>;

/** Returns user errors as text. Bugs of Remand are thrown, because the model cannot fix them. */
function guardTool(work: (input: Input, signal: AbortSignal) => Promise<ToolAnswer>): Tool["call"] {
  return async (input, signal) => {
    if (!isRecord(input)) return { isError: true, text: "the input must be an object" };
    try {
      return await work(input, signal);
    } catch (error) {
      if (error instanceof RemandError) return { isError: true, text: `${error.message}\n${error.hint}` };
      throw error;
    }
  };
}

const wrong = (message: string): RemandError =>
  new RemandError("usage", message, "Fix the input and call the tool again.");

function wrongConfig(problems: readonly string[]): ToolAnswer {
  return { isError: true, text: ["The configuration is wrong; no gate ran.", ...problems].join("\n") };
}

function textIn(input: Input, key: string): string | null {
  const value = input[key];
  if (value === undefined || value === null) return null;
  if (typeof value === "string" && value.length <= LONGEST) return value;
  throw wrong(`${key}: must be a text of at most ${LONGEST} characters`);
}

const LONGEST = 5_000_000;

function listIn(input: Input, key: string): readonly string[] {
  const value = input[key];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.length <= 100 && value.every((each) => typeof each === "string")) return value;
  throw wrong(`${key}: must be a list of texts`);
}

/** Reads a git ref. It is passed to git as an argument, where a leading dash would make it an option. */
function refIn(input: Input, key: string): string | null {
  const text = textIn(input, key);
  if (text === null || /^[\w][\w./@^~{}+-]{0,200}$/.test(text)) return text;
  throw wrong(`${key}: ${text.slice(0, 60)} is no ref`);
}
