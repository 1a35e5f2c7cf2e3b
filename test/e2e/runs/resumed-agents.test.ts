/** Each kind of agent whose program outlives the engine: what it said before and after the engine was killed is found. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createSupervisedAgents } from "../../../src/adapters/process/supervised-agents.ts";
import { createClaudeAgent } from "../../../src/agents/claude/claude-agent.ts";
import { createCodexAgent } from "../../../src/agents/codex/codex-agent.ts";
import { createCommandAgent } from "../../../src/agents/command/command-agent.ts";
import type { AgentRequest } from "../../../src/ports/agent.ts";
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

test.each(["claude", "codex", "command"] as const)("%s: one start, one result", async (kind) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "resumed-")));
  const agents = createSupervisedAgents({ folder: join(root, "runs"), cookie: undefined, program: PROGRAM });
  onTestFinished(async () => {
    await agents.dropAllBut(new Set());
    rmSync(root, { recursive: true, force: true });
  });
  const command = kind === "command" ? COMMAND : makeFake(kind, root, kind === "claude" ? CLAUDE : CODEX).program;
  const options = { command, root, environment: { source: { PATH: process.env["PATH"] ?? "" }, sees: [] } };
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
  };
  const { file, make, create } = AGENTS[kind];
  const engineFile = join(root, "engine.mjs");
  writeFileSync(
    engineFile,
    `import { ${make} } from ${JSON.stringify(join(DIST, file))};
import { createSupervisedAgents } from ${JSON.stringify(join(DIST, "adapters/process/supervised-agents.js"))};
const agents = createSupervisedAgents(${JSON.stringify({ folder: join(root, "runs"), program: PROGRAM })});
const agent = ${make}({ ...${JSON.stringify(options)}, processes: agents.forRole("developer", "it") });
await agent.run(${JSON.stringify(request)}, { signal: new AbortController().signal, onEvent() {} });
`,
  );
  const engine = spawn(process.execPath, [engineFile], { stdio: "inherit" });
  const isOver = new Promise((resolve) => engine.once("exit", resolve));
  while (!existsSync(join(root, "session"))) await sleep(10);
  engine.kill("SIGKILL");
  await isOver;
  const again = create({ ...options, processes: agents.forRole("developer", "it") });
  const ending = again.run(
    { ...request, prompt: "Said again: do it." },
    { signal: new AbortController().signal, onEvent() {} },
  );
  await sleep(100);
  writeFileSync(join(root, "go"), "");
  const id = readFileSync(join(root, "session"), "utf8").trim();
  expect(await ending).toMatchObject({ status: "completed", text: "all done", tokens: 15, session: { id } });
  const asked = kind === "command" ? join(root, "prompt.txt") : join(root, kind, "asked.jsonl");
  expect(readFileSync(asked, "utf8").split("Do it.")).toHaveLength(2);
  expect(readFileSync(asked, "utf8")).not.toContain("Said");
});
