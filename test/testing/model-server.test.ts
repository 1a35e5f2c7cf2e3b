import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startModelServer, TOKENS_OF_ANSWER, type ModelServer, type Reply } from "../../src/testing.ts";

let model: ModelServer;
beforeEach(async () => {
  model = await startModelServer();
});
afterEach(() => model.close());

const post = (path: string, body: object | string): Promise<Response> =>
  fetch(model.url + path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });

/** The same conversation in each protocol: a question, an answer, a question, a tool call and its result. */
const FORM = { type: "object", properties: { passed: { type: "boolean" } } };
const talks = {
  anthropic: {
    path: "/v1/messages",
    streamPath: "/v1/messages?beta=true",
    body: {
      model: "large",
      messages: [
        { role: "user", content: "first" },
        { role: "assistant", content: [{ type: "text", text: "yes" }] },
        { role: "user", content: [{ type: "text", text: "second" }] },
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "Read", input: {} }] },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "a file" }] }],
        },
        { role: "system", content: "a reminder" },
      ],
      tools: [{ name: "Read" }],
      output_config: { format: { type: "json_schema", schema: FORM } },
    },
  },
  "openai-responses": {
    path: "/v1/responses",
    streamPath: "/v1/responses",
    body: {
      model: "large",
      input: [
        { role: "user", content: [{ type: "input_text", text: "<environment_context>here</environment_context>" }] },
        { role: "user", content: "first" },
        { role: "assistant", content: [{ type: "output_text", text: "yes" }] },
        { role: "user", content: [{ type: "input_text", text: "second" }] },
        { type: "function_call", name: "Read", call_id: "t", arguments: "{}" },
        { type: "function_call_output", call_id: "t", output: "a file" },
      ],
      tools: [{ type: "function", name: "Read" }],
      text: { format: { type: "json_schema", schema: FORM } },
    },
  },
  "openai-chat": {
    path: "/v1/chat/completions",
    streamPath: "/v1/chat/completions",
    body: {
      model: "large",
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "first" },
        { role: "assistant", content: "yes" },
        { role: "user", content: [{ type: "text", text: "second" }] },
        { role: "assistant", content: null, tool_calls: [{ id: "t", type: "function", function: { name: "Read" } }] },
        { role: "tool", tool_call_id: "t", content: "a file" },
      ],
      tools: [{ type: "function", function: { name: "Read" } }],
      response_format: { type: "json_schema", json_schema: { schema: FORM } },
    },
  },
  gemini: {
    path: "/v1beta/models/large:generateContent",
    streamPath: "/v1beta/models/large:streamGenerateContent?alt=sse",
    body: {
      contents: [
        { role: "user", parts: [{ text: "first" }] },
        { role: "model", parts: [{ text: "yes" }] },
        { role: "user", parts: [{ text: "second" }] },
        { role: "model", parts: [{ functionCall: { name: "Read", args: {} } }] },
        { role: "user", parts: [{ functionResponse: { name: "Read", response: { output: "a file" } } }] },
      ],
      tools: [{ functionDeclarations: [{ name: "Read" }] }],
      generationConfig: { responseJsonSchema: FORM },
    },
  },
} as const;
const APIS = Object.keys(talks) as (keyof typeof talks)[];

describe.each(APIS)("in %s", (api) => {
  const { path, streamPath, body } = talks[api];
  const whole = async (reply: Reply): Promise<string> => {
    model.script([reply]);
    const response = await post(path, body);
    expect(response.headers.get("content-type")).toBe("application/json");
    return response.text();
  };
  const streamed = async (reply: Reply): Promise<string> => {
    model.script([reply]);
    const response = await post(streamPath, { ...body, stream: true });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    return response.text();
  };

  test("it records requests in the same form for all protocols", async () => {
    await whole({ says: "well" });
    expect(model.requests).toEqual([
      {
        api,
        model: "large",
        prompt: "second",
        round: 2,
        step: 1,
        toolResults: [api === "gemini" ? '{"output":"a file"}' : "a file"],
        tools: ["Read"],
        form: FORM,
        text: JSON.stringify(body),
        headers: expect.objectContaining({ host: model.url.slice("http://".length) }),
      },
    ]);
    expect(model.unexpected).toEqual([]);
  });

  test("an answer is sent whole or in pieces, with its token usage", async () => {
    expect(await whole({ says: "it is well" })).toContain('"it is well"');
    const text = await streamed({ says: "it is well", tokens: { input: 31_001, output: 17_001 } });
    expect(text).toContain('"it is well"');
    expect(text).toContain("31001");
    expect(text).toContain("17001");
    for (const line of text.split("\n").filter((each) => each.startsWith("data: ") && each !== "data: [DONE]"))
      expect(JSON.parse(line.slice("data: ".length))).toBeTypeOf("object");
    expect(await streamed({ says: "x" })).toContain(String(TOKENS_OF_ANSWER.input));
  });

  test("a tool is called by its name, with its input", async () => {
    const call: Reply = { calls: "Write", input: { path: "a.ts" } };
    for (const text of [await whole(call), await streamed(call)]) {
      expect(text).toContain('"Write"');
      expect(text).toMatch(/\\?"path\\?":\\?"a\.ts\\?"/);
    }
  });

  test("structured output, a refusal, and garbage", async () => {
    expect(await whole({ answers: { passed: true } })).toMatch(/\{\\"passed\\":true\}/);
    const ending = {
      anthropic: "refusal",
      "openai-responses": "refusal",
      "openai-chat": "content_filter",
      gemini: "SAFETY",
    };
    for (const text of [await whole({ refuses: "I will not" }), await streamed({ refuses: "I will not" })]) {
      expect(text).toContain(`"${ending[api]}"`);
      expect(text).toContain("I will not");
    }
    expect(await whole({ garbles: "<html>" })).toBe("<html>");
    expect(await streamed({ garbles: "<html>" })).toBe("<html>");
  });

  test.each([401, 429, 529])("a failure has the status %i, a message, and a retry time", async (fails) => {
    model.script([{ fails, message: "not now", retryAfterSeconds: 7 }]);
    const response = await post(path, body);
    expect(response.status).toBe(fails);
    expect(response.headers.get("retry-after")).toBe("7");
    expect(await response.json()).toMatchObject({ error: { message: "not now" } });
  });
});

const ASKED = { model: "large", messages: [{ role: "user", content: "hello" }] };
const ask = async (): Promise<{ status: number; text: string }> => {
  const response = await post("/v1/messages", ASKED);
  return { status: response.status, text: await response.text() };
};

test("replies of a list are sent in order; further requests get an error that clients do not retry", async () => {
  model.script([{ says: "one" }, { says: "two" }]);
  expect((await ask()).text).toContain('"one"');
  expect((await ask()).text).toContain('"two"');
  expect(model.unexpected).toEqual([]);
  expect(await ask()).toMatchObject({ status: 400, text: expect.stringContaining("ended after 2 replies") });
  expect(model.unexpected).toEqual(["the script ended after 2 replies"]);
  expect(model.requests).toHaveLength(3);
});

test("a function sees each request, and a new script starts with an empty list of requests", async () => {
  model.script(({ prompt, round }) => ({ says: `${prompt} ${round}` }));
  expect((await ask()).text).toContain('"hello 1"');
  model.script([]);
  expect(model.requests).toEqual([]);
});

test("a missing script, and a script that throws, are reported", async () => {
  expect(await ask()).toMatchObject({ status: 400, text: expect.stringContaining("no script yet") });
  model.script(() => {
    throw new Error("I forgot my line");
  });
  expect(await ask()).toMatchObject({ status: 400, text: expect.stringContaining("I forgot my line") });
  expect(model.unexpected).toHaveLength(2);
});

test("requests in no known protocol are recorded", async () => {
  expect((await fetch(`${model.url}/v1/models`)).status).toBe(404);
  expect((await post("/v1/messages", "no JSON")).status).toBe(400);
  expect((await post("/v1/messages", {})).status).toBe(400);
  expect((await fetch(model.url, { method: "HEAD" })).status).toBe(200);
  expect(model.unexpected).toEqual([
    "GET /v1/models",
    expect.stringContaining("POST /v1/messages: SyntaxError"),
    expect.stringContaining("POST /v1/messages: TypeError"),
  ]);
});

test("Claude Code gets structured output by a tool, and Codex addresses a server's tool by its namespace", async () => {
  model.script([{ answers: { passed: true } }, { calls: "mcp__remand__report_ready", input: {} }]);
  const tools = [{ name: "StructuredOutput", input_schema: FORM }];
  expect(await (await post("/v1/messages", { ...ASKED, tools })).json()).toMatchObject({
    content: [{ type: "tool_use", name: "StructuredOutput", input: { passed: true } }],
  });
  expect(model.requests[0]!.form).toEqual(FORM);
  expect(await (await post("/v1/responses", { model: "large", input: "hello" })).json()).toMatchObject({
    output: [{ type: "function_call", namespace: "mcp__remand", name: "report_ready", arguments: "{}" }],
  });
});

test("closing it ends hanging requests, and it listens only on loopback", async () => {
  model.script([{ hangs: true }]);
  const waiting = ask().catch((error: unknown) => error);
  await expect.poll(() => model.requests.length).toBe(1);
  await model.close();
  expect(await waiting).toBeInstanceOf(Error);
  expect(new URL(model.url).hostname).toBe("127.0.0.1");
  for (const [name, value] of Object.entries(model.env))
    if (name.endsWith("_URL")) expect(value.startsWith(model.url)).toBe(true);
  expect(model.codexArgs.join(" ")).toContain(`base_url="${model.url}/v1"`);
});
