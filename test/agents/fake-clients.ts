import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Behavior } from "../contract/agent.ts";

/**
 * Programs that print what the real clients print (claude 2.1.325, codex 0.166.0), shortened to the relevant parts, and
 * that keep conversations as those do: unknown ones are rejected, and counters continue. They record their calls in
 * `asked.jsonl` beside them. The real clients are tested by `npm run test:agents`.
 */
export interface FakeClient {
  readonly program: string;
  /** The file that records each start, to be read by `askedOf`. */
  readonly asked: string;
}

export function makeFake(
  client: "claude" | "codex",
  folder: string,
  behavior: Behavior | { readonly raw: string },
): FakeClient {
  const place = join(folder, client);
  mkdirSync(place, { recursive: true });
  const program = join(place, client);
  const body = "raw" in behavior ? behavior.raw : client === "claude" ? CLAUDE : CODEX;
  writeFileSync(
    program,
    `#!${process.execPath}\nconst place = ${JSON.stringify(place)};\nconst behavior = ${JSON.stringify(behavior)};\n${COMMON}\n${body}\n`,
  );
  chmodSync(program, 0o755);
  return { program, asked: join(place, "asked.jsonl") };
}

/** One start of a fake. */
export interface Asked {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
}

export function askedOf({ asked }: FakeClient): readonly Asked[] {
  const lines = readFileSync(asked, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Asked);
}

const COMMON = `
const fs = require("node:fs"), path = require("node:path"), { spawn } = require("node:child_process");
const args = process.argv.slice(2);
const stdin = fs.readFileSync(0, "utf8");
fs.appendFileSync(path.join(place, "asked.jsonl"), JSON.stringify({ args, env: process.env, stdin }) + "\\n");
const option = (name) => { const at = args.indexOf(name); return at === -1 ? undefined : args[at + 1]; };
const print = (event) => fs.writeSync(1, JSON.stringify(event) + "\\n");
const file = (id) => path.join(place, id + ".json");
const load = (id) => { try { return JSON.parse(fs.readFileSync(file(id), "utf8")); } catch { return null; } };
const keep = (id, said) => fs.writeFileSync(file(id), JSON.stringify(said));
const hang = () => { spawn("sh", ["-c", 'trap "" INT TERM; while :; do sleep 1; done'], { detached: true, stdio: "ignore" }); setInterval(() => {}, 1000); };
const write = ({ path: to, text }) => { fs.mkdirSync(path.dirname(to), { recursive: true }); fs.writeFileSync(to, text); };
const { writes, says = "done", ends = "well", answers } = behavior;
`;

const CLAUDE = `
const resumed = option("--resume");
const session_id = resumed ?? option("--session-id");
const before = resumed === undefined ? { prompts: [], answers: 0 } : load(session_id);
const out = (event) => print({ ...event, session_id, uuid: "0" });
const result = (fields) => out({ type: "result", subtype: "success", is_error: false, api_error_status: null, permission_denials: [], total_cost_usd: 0, usage: {}, modelUsage: {}, ...fields });
if (before === null) {
  process.stderr.write("No conversation found with session ID: " + session_id + "\\n");
  result({ subtype: "error_during_execution", is_error: true, errors: ["No conversation found with session ID: " + session_id] });
  process.exit(1);
}
if ((option("--json-schema") ?? "").includes("$schema")) {
  process.stderr.write('Error: --json-schema is not a valid JSON Schema: no schema with key or ref "x"\\n');
  process.exit(1);
}
const prompts = [...before.prompts, stdin];
out({ type: "system", subtype: "init", cwd: process.cwd(), tools: [], claude_code_version: "2.1.325" });
const fails = (status, error, text, more = {}) => {
  keep(session_id, { prompts, answers: before.answers });
  out({ type: "assistant", message: { role: "assistant", content: [{ type: "text", text }] }, error });
  result({ is_error: true, api_error_status: status, terminal_reason: "api_error", stop_reason: "stop_sequence", result: text, ...more });
  process.exit(1);
};
if (ends === "crash") { process.stderr.write("Segmentation fault\\n"); process.exit(139); }
if (ends === "hang") hang();
else if (ends === "garbled") fs.writeSync(1, "<html>\\n{\\n");
else if (ends === "auth") {
  out({ type: "system", subtype: "api_retry", attempt: 1, max_retries: 3, retry_delay_ms: 613, error_status: 401, error: "authentication_failed" });
  setInterval(() => {}, 1000);
}
else if (ends === "rate-limit") {
  out({ type: "system", subtype: "api_retry", attempt: 1, max_retries: 3, retry_delay_ms: 120000, error_status: 429, error: "rate_limit" });
  setInterval(() => {}, 1000);
}
else if (ends === "overloaded") fails(529, "server_error", "API Error: 529 Overloaded. This is a server-side issue, usually temporary.");
else if (ends === "bad-request") fails(404, "model_not_found", "There's an issue with the selected model (x). It may not exist or you may not have access to it.");
else if (ends === "refused") fails(null, "invalid_request", "API Error: safeguards flagged this message.", { stop_reason: "refusal" });
else if (ends === "credit") fails(400, "billing_error", "Credit balance is too low");
else if (ends === "context-length") fails(400, "invalid_request", "Prompt is too long · the request is ~210000 tokens", { terminal_reason: "prompt_too_long" });
else {
  let count = 1;
  const tools = option("--tools").split(",");
  if (writes !== undefined) {
    count = 2;
    const input = { file_path: writes.path, content: writes.text };
    out({ type: "assistant", message: { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "Write", input }] } });
    const isThere = tools.includes("Write");
    if (isThere) write(writes);
    const content = isThere ? "File created successfully" : "<tool_use_error>Error: No such tool available: Write. Write is disabled for this session.</tool_use_error>";
    out({ type: "user", message: { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", is_error: !isThere, content }] } });
  }
  const hasForm = option("--json-schema") !== undefined;
  const text = hasForm ? JSON.stringify(answers) : says;
  if (!hasForm) out({ type: "assistant", message: { role: "assistant", content: [{ type: "text", text }] }, parent_tool_use_id: null });
  const used = (n) => ({ "claude-opus-5-5": { inputTokens: 900 * n, outputTokens: 100 * n, cacheReadInputTokens: 0, cacheCreationInputTokens: 0, costUSD: 0.0056 * n, costBasis: "list" } });
  const all = before.answers + count;
  keep(session_id, { prompts, answers: all });
  result({ result: text, terminal_reason: "completed", stop_reason: "end_turn", total_cost_usd: 0.0056 * all, usage: { input_tokens: 900 * count, output_tokens: 100 * count }, modelUsage: used(all), model_usage_since_last_result: used(count), ...(hasForm ? { structured_output: answers } : {}) });
}
`;

const CODEX = `
const at = args.indexOf("resume");
const resumed = at === -1 ? undefined : args[at + 1];
const before = resumed === undefined ? { prompts: [], answers: 0 } : load(resumed);
if (before === null) {
  process.stderr.write("Error: thread/resume: thread/resume failed: no rollout found for thread id " + resumed + " (code -32600)\\n");
  process.exit(1);
}
const thread_id = resumed ?? require("node:crypto").randomUUID();
const prompts = [...before.prompts, stdin];
keep(thread_id, { prompts, answers: before.answers });
print({ type: "thread.started", thread_id });
print({ type: "turn.started" });
const fails = (message) => {
  print({ type: "error", message });
  print({ type: "turn.failed", error: { message } });
  process.exit(1);
};
if (ends === "crash") { process.stderr.write("thread 'main' panicked at src/main.rs\\n"); process.exit(101); }
if (ends === "hang") hang();
else if (ends === "garbled") fs.writeSync(1, "<html>\\n{\\n");
else if (ends === "auth") fails("unexpected status 401 Unauthorized: Missing bearer, url: http://127.0.0.1:1/v1/responses");
else if (ends === "rate-limit") fails("You\\u2019ve hit your usage limit. Try again later.");
else if (ends === "overloaded") fails("We\\u2019re currently experiencing high demand, which may cause temporary errors.");
else if (ends === "bad-request") fails('{"error":{"message":"bad thing","type":"error","code":null}}');
else if (ends === "refused") fails("Invalid prompt: your prompt was flagged as potentially violating our usage policy.");
else if (ends === "credit") fails("Quota exceeded. Check your plan and billing details.");
else if (ends === "context-length") fails('{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}');
else {
  let count = 1;
  if (writes !== undefined) {
    count = 2;
    if (option("--sandbox") === "read-only")
      process.stderr.write("2026-11-15T13:04:24Z ERROR codex_core::tools::router: error=patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings\\n");
    else {
      write(writes);
      print({ type: "item.completed", item: { id: "item_0", type: "file_change", changes: [{ path: path.resolve(writes.path), kind: "add" }], status: "completed" } });
    }
  }
  const form = option("--output-schema");
  const nulls = form === undefined ? {} : Object.fromEntries(Object.keys(JSON.parse(fs.readFileSync(form, "utf8")).properties).map((name) => [name, null]));
  const text = form === undefined ? says : JSON.stringify({ ...nulls, ...answers });
  print({ type: "item.completed", item: { id: "item_1", type: "agent_message", text } });
  const all = before.answers + count;
  keep(thread_id, { prompts, answers: all });
  print({ type: "turn.completed", usage: { input_tokens: 900 * all, cached_input_tokens: 0, output_tokens: 100 * all, reasoning_output_tokens: 0 } });
}
`;
