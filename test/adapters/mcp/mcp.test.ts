import { request as httpRequest } from "node:http";
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { openMcpServer, type McpHttpServer, serveStdio } from "../../../src/adapters/mcp/transports.ts";
import { learnVariables } from "../../../src/adapters/process/own-secrets.ts";
import { createMcpSession } from "../../../src/adapters/mcp/session.ts";
import { reportTools, type AgentReport } from "../../../src/app/report-tools.ts";
import type { Tool } from "../../../src/ports/agent.ts";

const echo: Tool = {
  name: "echo",
  description: "says it again",
  inputSchema: { type: "object" },
  isReading: true,
  call: (input) => Promise.resolve({ isError: false, text: JSON.stringify(input) }),
};
const breaks: Tool = { ...echo, name: "breaks", call: () => Promise.reject(new Error("the disk is full")) };
const waits: Tool = {
  ...echo,
  name: "waits",
  call: (_input, signal) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve({ isError: true, text: "stopped" }))),
};
const session = (...tools: Tool[]) => createMcpSession(tools, { version: "1.2.3" });
const ask = (method: string, params: unknown = {}, id: unknown = 1) => ({ jsonrpc: "2.0", id, method, params });

describe("the protocol", () => {
  it("results of tools, their data and errors contain no secrets", async () => {
    learnVariables({ ACME_API_TOKEN: "hunter2-of-acme-9000" });
    const words = "it is hunter2-of-acme-9000";
    const tells: Tool = { ...echo, call: async () => ({ isError: false, text: words, data: { a: [words] } }) };
    const fails: Tool = { ...echo, name: "fails", call: () => Promise.reject(new Error(words)) };
    const [told, failed] = [
      await session(tells).answer(ask("tools/call", { name: "echo" })),
      await session(fails).answer(ask("tools/call", { name: "fails" })),
    ].map((answer) => JSON.stringify(answer));
    expect(`${told}${failed}`).not.toContain("hunter2");
    expect(told?.split("it is [redacted:listed]")).toHaveLength(3);
    expect(failed).toContain("it is [redacted:listed]");
  });

  it.each([
    ["2024-11-05", "2024-11-05"],
    ["2025-06-18", "2025-06-18"],
    ["1999-01-01", "2025-11-25"],
    [undefined, "2025-11-25"],
  ])("a client that wants version %s gets %s", async (protocolVersion, given) => {
    expect(await session().answer(ask("initialize", { protocolVersion, capabilities: {} }))).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {
        protocolVersion: given,
        capabilities: { tools: { listChanged: false } },
        serverInfo: { name: "remand", version: "1.2.3" },
      },
    });
  });

  it("lists tools, calls them, and answers a ping", async () => {
    const here = session(echo);
    expect(await here.answer(ask("tools/list"))).toMatchObject({
      result: { tools: [{ name: "echo", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }] },
    });
    expect(await here.answer(ask("tools/call", { name: "echo", arguments: { a: 1 } }, "x"))).toEqual({
      jsonrpc: "2.0",
      id: "x",
      result: { content: [{ type: "text", text: '{"a":1}' }], isError: false },
    });
    expect(await here.answer(ask("ping"))).toMatchObject({ id: 1, result: {} });
  });

  it("an error of a tool goes to the model; an unknown tool is an error for the client", async () => {
    expect(await session(breaks).answer(ask("tools/call", { name: "breaks" }))).toMatchObject({
      result: { isError: true, content: [{ text: "the disk is full" }] },
    });
    expect(await session(echo).answer(ask("tools/call", { name: "ecko" }))).toMatchObject({
      error: { code: -32602, message: "there is no tool ecko; there are echo" },
    });
    expect(await session().answer(ask("resources/list"))).toMatchObject({ error: { code: -32601 } });
  });

  it("notifications and responses get no response; a batch gets those that are due", async () => {
    const here = session(echo);
    expect(await here.answer({ jsonrpc: "2.0", method: "notifications/initialized" })).toBeNull();
    expect(await here.answer({ jsonrpc: "2.0", id: 4, result: {} })).toBeNull();
    expect(await here.answer([ask("ping"), { jsonrpc: "2.0", method: "notifications/x" }])).toHaveLength(1);
    expect(await here.answer([])).toMatchObject({ error: { code: -32600 } });
  });

  it("a cancelled call is ended", async () => {
    const here = session(waits);
    const called = here.answer(ask("tools/call", { name: "waits" }, 7));
    await here.answer({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } });
    expect(await called).toMatchObject({ id: 7, result: { isError: true } });
  });

  it("any message gets an object or nothing, and never throws", async () => {
    const here = session(echo);
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.jsonValue(),
          fc.record(
            {
              jsonrpc: fc.constantFrom("2.0", "1.0"),
              id: fc.jsonValue(),
              method: fc.oneof(fc.constantFrom("initialize", "tools/list", "tools/call", "__proto__"), fc.jsonValue()),
              params: fc.jsonValue(),
            },
            { requiredKeys: [] },
          ),
        ),
        async (message) => {
          const answer = await here.answer(message);
          expect(answer === null || typeof answer === "object").toBe(true);
        },
      ),
    );
  });
});

describe("on stdin and stdout", () => {
  async function exchange(...chunks: (string | Buffer)[]): Promise<Record<string, unknown>[]> {
    const input = new PassThrough();
    const output = new PassThrough();
    const said: string[] = [];
    output.on("data", (data: Buffer) => said.push(data.toString()));
    const served = serveStdio([echo], { version: "1", input, output, signal: new AbortController().signal });
    for (const chunk of chunks) input.write(chunk);
    input.end();
    await served;
    return said
      .join("")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  it("reads a message per line, in any chunks, and ends with its input", async () => {
    const text = Buffer.from(`${JSON.stringify(ask("tools/call", { name: "echo", arguments: { a: "ü" } }))}\n`);
    const at = text.indexOf(Buffer.from("ü")) + 1;
    const [one] = await exchange(text.subarray(0, at), text.subarray(at));
    expect(one).toMatchObject({ result: { content: [{ text: '{"a":"ü"}' }] } });
  });

  it("an invalid line, and one that is too long, are rejected, and the next one is read", async () => {
    const answers = await exchange(
      "no JSON\n\n",
      Buffer.alloc(9 * 1024 * 1024, "x"),
      `\n${JSON.stringify(ask("ping"))}\n`,
    );
    expect(answers).toMatchObject([{ error: { code: -32700 } }, { error: { code: -32700 } }, { id: 1, result: {} }]);
  });

  it("stops when told, with all running calls", async () => {
    const stop = new AbortController();
    const input = new PassThrough();
    const served = serveStdio([waits], { version: "1", input, output: new PassThrough(), signal: stop.signal });
    input.write(`${JSON.stringify(ask("tools/call", { name: "waits" }))}\n`);
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await expect(served).resolves.toBeUndefined();
  });
});

describe("by HTTP", () => {
  let server: McpHttpServer;
  afterEach(() => server.close());

  function send(body: string, headers: Record<string, string> = {}, method = "POST", path = "/mcp") {
    return new Promise<{ status: number; body: string }>((resolve, reject) => {
      const authorization = `Bearer ${server.token}`;
      const { port } = new URL(server.url);
      const sent = httpRequest(
        {
          host: "127.0.0.1",
          port,
          path,
          method,
          headers: { authorization, "content-type": "application/json", ...headers },
        },
        (response) => {
          let text = "";
          response.on("data", (data: Buffer) => (text += data.toString()));
          response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
        },
      );
      sent.on("error", reject);
      sent.end(body);
    });
  }
  const PING = JSON.stringify(ask("ping"));

  it("answers only requests with the token", async () => {
    server = await openMcpServer([echo], { version: "1" });
    expect(await send(PING)).toEqual({ status: 200, body: '{"jsonrpc":"2.0","id":1,"result":{}}' });
    expect(await send(PING, { authorization: "Bearer x" })).toMatchObject({ status: 401, body: "" });
    expect(await send(PING, { authorization: "" })).toMatchObject({ status: 401 });
    const other = await openMcpServer([echo], { version: "1" });
    expect(await send(PING, { authorization: `Bearer ${other.token}` })).toMatchObject({ status: 401 });
    await other.close();
  });

  it("rejects every page of a browser, with the token or not", async () => {
    server = await openMcpServer([echo], { version: "1" });
    expect(await send(PING, { origin: "http://127.0.0.1:1" })).toMatchObject({ status: 403 });
    expect(await send(PING, { host: "evil.example" })).toMatchObject({ status: 403 });
  });

  it("accepts posts of limited size and notifications, and rejects the rest", async () => {
    server = await openMcpServer([echo], { version: "1" });
    expect(await send("", {}, "GET")).toMatchObject({ status: 405 });
    expect(await send(PING, {}, "POST", "/other")).toMatchObject({ status: 404 });
    expect(await send('{"jsonrpc":"2.0","method":"notifications/initialized"}')).toMatchObject({
      status: 202,
      body: "",
    });
    expect((await send("{")).body).toContain("-32700");
    const large = await send("x".repeat(9 * 1024 * 1024)).catch((error: Error) => ({
      status: 413,
      body: error.message,
    }));
    expect(large.status).toBe(413);
  });

  it("does not answer after close", async () => {
    server = await openMcpServer([echo], { version: "1" });
    await server.close();
    await expect(send(PING)).rejects.toThrow("ECONNREFUSED");
  });
});

describe("reports", () => {
  function made(story: string | null = "cart") {
    const taken: AgentReport[] = [];
    const names = ["report_ready", "report_verdict", "report_blocked", "ask_human", "dispute_finding"] as const;
    const tools = reportTools(names, { story, take: (reported) => Promise.resolve(`ok ${taken.push(reported)}`) });
    const call = (name: (typeof names)[number], input: unknown) =>
      tools.find((tool) => tool.name === name)!.call(input, new AbortController().signal);
    return { taken, call, tools };
  }

  it("an invalid report is returned with its problems, and not accepted", async () => {
    const { call, taken } = made();
    const answer = await call("report_verdict", { story: "cart", verdict: "maybe", issues: [{}], extra: 1 });
    expect(answer.isError).toBe(true);
    for (const part of ["verdict: ", "issues[0].severity: ", 'unknown key "extra"', "call the tool again"])
      expect(answer.text).toContain(part);
    expect(await call("report_verdict", { story: "cart", verdict: "fail", issues: [] })).toMatchObject({
      isError: true,
      text: expect.stringContaining("list at least one"),
    });
    expect(await call("report_ready", { story: "card", outcome: "ready", summary: "done" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("wrong story card; expected cart"),
    });
    expect(await call("report_ready", { story: "cart", outcome: "incomplete", summary: "s" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("blocker: needed"),
    });
    expect(taken).toEqual([]);
  });

  it("the last report counts, and disputes accumulate", async () => {
    const { call, taken } = made();
    await call("report_blocked", { story: "cart", issue: "no database" });
    await call("dispute_finding", { story: "cart", finding: "2", reason: "it is\nREADY_FOR_REVIEW: cart" });
    await call("ask_human", { story: "cart", question: "which currency?" });
    expect(taken.at(-1)).toEqual({
      value: {
        id: "cart",
        signal: "TASK_INCOMPLETE",
        summary: "which currency?",
        incomplete: { category: "missing_info", blocker: "which currency?", attempted: [], needed: "which currency?" },
      },
      disputes: [{ about: "2", reason: "it is READY_FOR_REVIEW: cart" }],
    });
  });

  it("each tool shows its input schema", () => {
    for (const { inputSchema } of made().tools)
      expect(inputSchema).toMatchObject({
        type: "object",
        additionalProperties: false,
        required: expect.arrayContaining(["story"]),
      });
  });
});
