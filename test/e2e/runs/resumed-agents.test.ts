/** Each kind of agent whose program outlives the engine: what it said before and after the engine was killed is found. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createSupervisedAgents } from "../../../src/adapters/process/agent-processes.ts";
import { createClaudeAgent } from "../../../src/agents/claude/claude-agent.ts";
import { createCodexAgent } from "../../../src/agents/codex/codex-agent.ts";
import { createCommandAgent } from "../../../src/agents/command/command-agent.ts";
import { reportingAgent } from "../../../src/compose/agents/client-agents.ts";
import type { Agent, AgentRequest } from "../../../src/ports/agent.ts";
import { makeFake } from "../../agents/fake-clients.ts";

const DIST = fileURLToPath(new URL("../../../dist/", import.meta.url));
const PROGRAM = join(DIST, "adapters/process/supervisor.js");

/** Says the first line, waits for a file, and says the rest. */
const slowly = (first: string, rest: string): { raw: string } => ({
  raw: `${first}
const timer = setInterval(() => {
  if (!fs.existsSync("go")) return;
  clearInterval(timer);
  fs.writeFileSync("work.txt", "done");
  ${rest}
}, 20);`,
});

const CLAUDE = slowly(
  `const session_id = option("--session-id");
print({ type: "system", subtype: "init", session_id, tools: [] });
fs.writeFileSync("session", session_id);`,
  `print({ type: "result", subtype: "success", is_error: false, result: "all done", session_id, total_cost_usd: 0.25,
    usage: { input_tokens: 10, output_tokens: 5 }, modelUsage: { m: { inputTokens: 10, outputTokens: 5, costUSD: 0.25 } }, permission_denials: [] });`,
);
const CODEX = slowly(
  `print({ type: "thread.started", thread_id: "t1" });
fs.writeFileSync("session", "t1");`,
  `print({ type: "item.completed", item: { type: "agent_message", text: "all done" } });
print({ type: "turn.completed", usage: { input_tokens: 10, output_tokens: 5 } });`,
);
const COMMAND = `cat > prompt.txt; echo s1 > session; echo working
until [ -e go ]; do sleep 0.02; done
echo done > work.txt
echo '{"text": "all done", "session": "s1", "usage": {"tokens": 15}}' > "$REMAND_RESULT_FILE"`;

const AGENTS = {
  claude: { file: "agents/claude/claude-agent.js", make: "createClaudeAgent", create: createClaudeAgent },
  codex: { file: "agents/codex/codex-agent.js", make: "createCodexAgent", create: createCodexAgent },
  command: { file: "agents/command/command-agent.js", make: "createCommandAgent", create: createCommandAgent },
} as const;

const control = { signal: new AbortController().signal, onEvent() {} };

/** An agent that an engine starts, which is killed as soon as the agent has written `session`; and the next engine's. */
async function outlivingAgent(
  kind: keyof typeof AGENTS,
  script: string | { raw: string },
  changes: Partial<AgentRequest> = {},
): Promise<{ readonly root: string; readonly again: Agent; readonly request: AgentRequest }> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "resumed-")));
  const agents = createSupervisedAgents({ folder: join(root, "runs"), cookie: undefined, program: PROGRAM });
  onTestFinished(async () => {
    await agents.dropAllBut(new Set());
    expect(readdirSync(join(root, "runs"))).toEqual([]);
    rmSync(root, { recursive: true, force: true });
  });
  const command = kind === "command" || typeof script === "string" ? script : makeFake(kind, root, script).program;
  const options = {
    command: command as string,
    root,
    environment: { source: { PATH: process.env["PATH"] ?? "" }, sees: [] },
  };
  const request: AgentRequest = {
    prompt: "Do it.",
    cwd: root,
    access: "full",
    session: null,
    outputSchema: null,
    model: null,
    timeoutMs: 60_000,
    env: {},
    key: "a:3",
    turn: 0,
    ...changes,
  };
  const { file, make, create } = AGENTS[kind];
  const engineFile = join(root, "engine.mjs");
  const inDist = (path: string): string => JSON.stringify(join(DIST, path));
  writeFileSync(
    engineFile,
    `import { ${make} } from ${inDist(file)};
import { createSupervisedAgents } from ${inDist("adapters/process/agent-processes.js")};
import { reportingAgent } from ${inDist("compose/agents/client-agents.js")};
const agents = createSupervisedAgents(${JSON.stringify({ folder: join(root, "runs"), program: PROGRAM })});
const agent = ${make}({ ...${JSON.stringify(options)}, processes: agents.forRole("developer", "it") });
await reportingAgent(agent, agents.reportsOf("developer")).run(${JSON.stringify(request)}, { signal: new AbortController().signal, onEvent() {} });
`,
  );
  const engine = spawn(process.execPath, [engineFile], { stdio: "inherit" });
  const isOver = new Promise((resolve) => engine.once("exit", resolve));
  while (!existsSync(join(root, "session"))) await sleep(10);
  engine.kill("SIGKILL");
  await isOver;
  const found = create({ ...options, processes: agents.forRole("developer", "it") });
  return { root, request, again: reportingAgent(found, agents.reportsOf("developer")) };
}

test.each(["claude", "codex", "command"] as const)("%s: one start, one result", async (kind) => {
  const script = { claude: CLAUDE, codex: CODEX, command: COMMAND }[kind];
  const { root, again, request } = await outlivingAgent(kind, script);
  const ending = again.run({ ...request, prompt: "Said again: do it." }, control);
  await sleep(100);
  writeFileSync(join(root, "go"), "");
  const id = readFileSync(join(root, "session"), "utf8").trim();
  expect(await ending).toMatchObject({ status: "completed", text: "all done", tokens: 15, session: { id } });
  const asked = kind === "command" ? join(root, "prompt.txt") : join(root, kind, "asked.jsonl");
  expect(readFileSync(asked, "utf8").split("Do it.")).toHaveLength(2);
  expect(readFileSync(asked, "utf8")).not.toContain("Said");
});

test("what an agent reports by tools before and after the engine was killed is found", async () => {
  const call = (name: string, input: object): string =>
    `call(${JSON.stringify({ name, arguments: { story: "cart", ...input } })})`;
  const script = slowly(
    `const session_id = option("--session-id");
const { mcpServers: { remand: { url, headers } } } = JSON.parse(fs.readFileSync(option("--mcp-config"), "utf8"));
const call = (params) => fetch(url, { method: "POST", headers: { ...headers, "content-type": "application/json" },
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }) }).then((answer) => answer.text());
${call("dispute_finding", { finding: "1", reason: "tabs are wanted" })}.then(() => fs.writeFileSync("session", session_id));`,
    `${call("report_ready", { outcome: "ready", summary: "tabs" })}.then(() => print({ type: "result", is_error: false,
    result: "all done", session_id }));`,
  );
  const { root, again, request } = await outlivingAgent("claude", script, { report: { story: "cart", kind: "work" } });
  const ending = again.run(request, control);
  await sleep(100);
  writeFileSync(join(root, "go"), "");
  expect(await ending).toMatchObject({
    status: "completed",
    text: "all done\n\nDispute: 1: tabs are wanted",
    output: { summary: "tabs" },
  });
});
