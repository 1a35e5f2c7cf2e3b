import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createCodexAgent } from "../../../src/agents/codex/codex-agent.ts";
import { strictSchema, withoutNulls, codexError } from "../../../src/agents/codex/codex-wire.ts";
import { findClient } from "../../../src/agents/client/client-program.ts";
import type { ClientAgentOptions } from "../../../src/agents/client/client.ts";
import type { AgentRequest } from "../../../src/ports/agent.ts";
import { createCookies } from "../client-under-test.ts";
import { type FakeClient, askedOf, makeFake } from "../fake-clients.ts";
import { workplace } from "../workplace.ts";
import { type Behavior, describeAgent } from "../../contract/agent.ts";
import { CODEX_PROGRAM } from "../../../src/agents/codex/codex-program.ts";

const cookies = createCookies();
const source = { PATH: "/usr/bin:/bin", HOME: tmpdir(), CODEX_API_KEY: "sk-none", GITHUB_TOKEN: "secret" };
let newest: FakeClient;

describeAgent("codex", {
  make(behavior, folder) {
    newest = makeFake("codex", folder, behavior);
    const environment = { source, sees: [] };
    return createCodexAgent({ command: newest.program, root: folder, environment, cookieOf: cookies.of });
  },
  leftovers: cookies.left,
  client: {
    answer: { tokens: 1000, costUsd: null },
    troubles: ["rate-limit", "refused", "credit", "context-length"],
    prompts() {
      const { args } = askedOf(newest).at(-1)!;
      const file = join(newest.asked, "..", `${args[args.indexOf("resume") + 1]}.json`);
      return (JSON.parse(readFileSync(file, "utf8")) as { prompts: string[] }).prompts;
    },
  },
});

describe("codex", () => {
  const place = workplace(cookies.left);
  let fake: FakeClient;

  function run(
    behavior: Behavior | { readonly raw: string },
    changes: Partial<AgentRequest> = {},
    options: Partial<ClientAgentOptions> = {},
  ) {
    fake = makeFake("codex", place.folder, behavior);
    const environment = { source, sees: [] };
    const agent = createCodexAgent({
      command: fake.program,
      root: place.folder,
      environment,
      cookieOf: cookies.of,
      ...options,
    });
    return place.run(agent, changes);
  }
  const args = (): readonly string[] => askedOf(fake).at(-1)!.args;
  const settings = (): readonly string[] => args().filter((_, at) => args()[at - 1] === "-c");

  test("loads no settings of the worktree or the user, even if the project is trusted", async () => {
    await run({});
    expect(args()).toEqual(expect.arrayContaining(["--ignore-user-config", "--ignore-rules"]));
    expect(args().filter((_, at) => args()[at - 1] === "--disable")).toEqual(["hooks", "plugins", "apps"]);
    expect(settings()).toEqual(
      expect.arrayContaining([
        "project_doc_max_bytes=0",
        "skills.include_instructions=false",
        `projects={"${place.cwd}"={trust_level="untrusted"}}`,
        'approval_policy="never"',
        "analytics.enabled=false",
      ]),
    );
  });

  test.each([
    ["read", "read-only"],
    ["edit", "workspace-write"],
    ["full", "danger-full-access"],
  ] as const)("access %s is the sandbox %s", async (access, sandbox) => {
    await run({}, { access });
    expect(args()[args().indexOf("--sandbox") + 1]).toBe(sandbox);
    expect(settings().includes("sandbox_workspace_write.exclude_slash_tmp=true")).toBe(access === "edit");
  });

  test("a role with full access gets it for edits, and never for reading", async () => {
    await run({}, { access: "edit" }, { edits: "full" });
    expect(args()).toContain("danger-full-access");
    await run({}, { access: "read" }, { edits: "full" });
    expect(args()).toContain("read-only");
  });

  test("sees only its login; the programs of the agent do not see it", async () => {
    await run({}, { env: { ADDED: "added" } });
    const { env } = askedOf(fake).at(-1)!;
    expect(env).toMatchObject({ CODEX_API_KEY: "sk-none", ADDED: "added" });
    expect(env["GITHUB_TOKEN"]).toBeUndefined();
    expect(settings()).toContain(
      'shell_environment_policy.exclude=["OPENAI_*","CODEX_API_KEY","CODEX_ACCESS_TOKEN","REMAND_MCP_TOKEN"]',
    );
  });

  test("more arguments come before the conversation's id, and the prompt is on stdin", async () => {
    const session = (await run({}, { model: "gpt-5.5" }, { args: ["-c", "x=1"] })).session;
    expect(args().slice(-5)).toEqual(["--model", "gpt-5.5", "-c", "x=1", "-"]);
    await run({}, { session }, { args: ["-c", "x=1"] });
    expect(args().slice(-5)).toEqual(["-c", "x=1", "resume", session!.id, "-"]);
    expect(askedOf(fake).at(-1)!.stdin).toBe("fix the parser");
  });

  test.each([
    ["garbage", 'fs.writeSync(1, "\\u0000\\u001b[31mnot json\\n{\\n[1]\\n");'],
    ["half a line", `fs.writeSync(1, '{"type":"turn.comp');`],
    [
      "fields of other types",
      'print({ type: "item.completed", item: 3 }); print({ type: "thread.started", thread_id: {} });',
    ],
  ])("%s is a crash and does not throw", async (_, raw) => {
    expect(await run({ raw })).toMatchObject({
      status: "failed",
      error: { kind: "crash" },
      tokens: null,
      costUsd: null,
    });
  });

  test("an answer that is not in the requested form is no output", async () => {
    const raw = `print({ type: "item.completed", item: { type: "agent_message", text: "I think it is fine" } });
      print({ type: "turn.completed", usage: { input_tokens: 3, output_tokens: 4 } });`;
    const result = await run({ raw }, { outputSchema: { type: "object" } });
    expect(result).toMatchObject({ status: "completed", text: "I think it is fine", output: null, tokens: 7 });
  });

  test("errors before the first turn are reported", async () => {
    const raw = 'process.stderr.write("Error: Not logged in\\n"); process.exit(1);';
    expect((await run({ raw })).error).toMatchObject({ kind: "auth", fix: expect.stringContaining("codex login") });
  });

  test("the program is started, and not npm's script", async () => {
    const scope = join(place.folder, "node_modules", "@openai");
    const bin = join(scope, `codex-${process.platform}-${process.arch}`, "vendor", "some-triple", "bin");
    for (const each of [join(scope, "codex", "bin"), bin, join(place.folder, "bin")])
      mkdirSync(each, { recursive: true });
    writeFileSync(join(scope, "codex", "bin", "codex.js"), "#!/usr/bin/env node\n", { mode: 0o755 });
    symlinkSync(join(scope, "codex", "bin", "codex.js"), join(place.folder, "bin", "codex"));
    writeFileSync(join(bin, "codex"), "#!/bin/sh\n", { mode: 0o755 });
    const search = { client: CODEX_PROGRAM, root: join(place.folder, "deep", "er") } as const;
    expect(await findClient({ ...search, env: { PATH: join(place.folder, "bin") } })).toBe(join(bin, "codex"));
    expect(await findClient({ ...search, env: { PATH: "" } })).toBe(join(bin, "codex"));
    rmSync(bin, { recursive: true });
    const shim = join(scope, "codex", "bin", "codex.js");
    expect(await findClient({ ...search, env: {} })).toBe(shim);
    expect(await findClient({ ...search, env: {}, command: "codex-of-mine" })).toBeNull();
    expect(await findClient({ ...search, env: {}, command: shim })).toBe(shim);
  });
});

describe("errors of Codex", () => {
  test.each([
    ["unexpected status 401 Unauthorized: Missing bearer", "auth"],
    ["unexpected status 403 Forbidden: no", "auth"],
    ["Your access token could not be refreshed. Please log out and sign in again.", "auth"],
    ["exceeded retry limit, last status: 429 Too Many Requests", "rate-limit"],
    ["You’ve hit your usage limit. Try again later.", "rate-limit"],
    ["Quota exceeded. Check your plan and billing details.", "credit"],
    ["You're out of credits.", "credit"],
    ["Selected model is at capacity. Please try a different model.", "overloaded"],
    ["We’re currently experiencing high demand, which may cause temporary errors.", "overloaded"],
    ["unexpected status 529 <unknown status code>: x", "overloaded"],
    ["stream disconnected before completion: error sending request", "overloaded"],
    ["Codex ran out of room in the model's context window. Start a new thread.", "context-length"],
    ["Invalid prompt: your prompt was flagged as potentially violating our usage policy.", "refused"],
    ["This request has been flagged for possible cybersecurity risk.", "refused"],
    ['{"error":{"message":"bad thing"}}', "bad-request"],
    ["unexpected status 404 Not Found: The model does not exist", "bad-request"],
    ["something odd", "crash"],
  ])("%j is %s", (message, kind) => {
    expect(codexError(message, 0).kind).toBe(kind);
  });

  test.each([
    ["Rate limit reached. Please try again in 20s.", 20_000],
    ["You've hit your usage limit. Try again in 1 day 2 hours 3 minutes.", 93_780_000],
    ["429: try again in 1.5 seconds", 1500],
    ["429: try again later", undefined],
  ])("%j: retry after %s ms", (message, ms) => {
    expect(codexError(message, 1000).retryAt).toBe(ms === undefined ? undefined : 1000 + ms);
  });
});

describe("a schema for a strict provider", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "urn:some:form:1",
    type: "object",
    properties: {
      required: { type: "string", enum: ["properties", "required"] },
      maybe: { $ref: "#/$defs/part" },
      list: { type: "array", items: { type: "object", properties: { at: { type: "integer" } } } },
    },
    required: ["required", "list"],
    $defs: { part: { type: "object", properties: { deep: { type: "string" } }, required: ["deep"] } },
  };

  test("requires every field, allows no others, and accepts null for an optional field", () => {
    expect(strictSchema(schema)).toEqual({
      type: "object",
      properties: {
        required: { type: "string", enum: ["properties", "required"] },
        maybe: { anyOf: [{ $ref: "#/$defs/part" }, { type: "null" }] },
        list: {
          type: "array",
          items: {
            type: "object",
            properties: { at: { anyOf: [{ type: "integer" }, { type: "null" }] } },
            required: ["at"],
            additionalProperties: false,
          },
        },
      },
      required: ["required", "maybe", "list"],
      additionalProperties: false,
      $defs: {
        part: {
          type: "object",
          properties: { deep: { type: "string" } },
          required: ["deep"],
          additionalProperties: false,
        },
      },
    });
  });

  test("loses null in optional fields, and nothing else", () => {
    expect(withoutNulls({ required: null, maybe: null, list: [{ at: null }, { at: 3 }], more: null }, schema)).toEqual({
      required: null,
      list: [{}, { at: 3 }],
      more: null,
    });
    expect(withoutNulls({ required: "properties", maybe: { deep: null }, list: [] }, schema)).toEqual({
      required: "properties",
      maybe: { deep: null },
      list: [],
    });
  });
});
