import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { acpProbe } from "../../../src/agents/acp/acp-greeting.ts";
import { modelProbe } from "../../../src/agents/model/model-provider.ts";
import { heardBy, makeAcp, type AcpBehavior } from "../../agents/fake-acp.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-probes-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("an agent that speaks the Agent Client Protocol", () => {
  const source = { PATH: process.env["PATH"], HOME: tmpdir(), SECRET: "x" };
  const probe = (command: string, args?: readonly string[]) => acpProbe({ command, args, env: [] }, source);
  const fake = (behavior: AcpBehavior): string => makeAcp(join(folder, "acp"), behavior).program;

  test("answers the handshake with its capabilities", async () => {
    const plain = fake({});
    expect(await probe(plain)).toEqual({
      name: "acp",
      ok: true,
      detail: `${plain}, starts every conversation new, reports by its message`,
      fix: "",
    });
    const capabilities = { loadSession: true, mcpCapabilities: { http: true } };
    const able = fake({ capabilities, agentInfo: { name: "heron", version: "1.2" } });
    expect(await probe(able, ["--acp"])).toMatchObject({
      ok: true,
      detail: `${able} --acp (heron 1.2), resumes conversations, takes tools to report by`,
    });
  });

  test("gets no request, and is started in an empty folder", async () => {
    const { program, heard } = makeAcp(join(folder, "acp"), {});
    await probe(program);
    const messages = heardBy(heard);
    expect(messages.map(({ method }) => method)).toEqual(["initialize", "session/new"]);
    expect(messages[1]!.params!["cwd"]).toMatch(/remand-probe-/);
  });

  test("reports a missing login or another error, with the fix", async () => {
    const auth = await probe(fake({ opens: [-32000, "Authentication required"] }));
    expect(auth).toMatchObject({ ok: false, detail: expect.stringMatching(/no login$/) });
    expect(auth.fix).toContain("`env`");
    const other = await probe(fake({ opens: [-32603, "no disk"] }));
    expect(other).toMatchObject({ ok: false, detail: expect.stringMatching(/starts no conversation: no disk$/) });
    expect(other.fix).not.toBe("");
    const newer = await probe(fake({ protocol: 2 }));
    expect(newer).toMatchObject({ ok: false, detail: expect.stringMatching(/version 2 of the protocol$/) });
  });

  test("is missing, or speaks another protocol", async () => {
    const missing = {
      ok: false,
      detail: expect.stringMatching(/: not found$/),
      fix: expect.stringContaining("Install"),
    };
    expect(await probe("no-such-agent --acp")).toMatchObject(missing);
    expect(await probe("no-such-agent", ["--acp"])).toMatchObject(missing);
    const silent = await probe("echo hello; exit 3");
    expect(silent.detail).toMatch(/does not speak the Agent Client Protocol: it ended with exit code 3: hello$/);
    expect(silent.fix).toContain("gemini --acp");
  });
});

describe("a model by its provider's API", () => {
  const source = { ANTHROPIC_API_KEY: "sk", EMPTY_API_KEY: "" };
  const probe = (model: string | null, variables: Readonly<Record<string, string>> = source) =>
    modelProbe(folder, model, variables);
  function install(name: string, text: string): void {
    const place = join(folder, "node_modules", name);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "package.json"), JSON.stringify({ name, main: "index.js" }));
    writeFileSync(join(place, "index.js"), text);
  }

  test("must be named, with its provider", () => {
    expect(probe(null)).toMatchObject({ ok: false, detail: "no model is named in the config" });
    expect(probe("opus")).toMatchObject({ ok: false, fix: expect.stringContaining("model: anthropic/") });
  });

  test("needs its packages, whole and new enough", () => {
    const fix = expect.stringContaining("npm install --save-dev ai @ai-sdk/anthropic");
    const name = "anthropic/opus";
    expect(probe(name)).toMatchObject({ ok: false, detail: `${name}: ai and @ai-sdk/anthropic not installed`, fix });
    install("ai", "");
    expect(probe(name)).toMatchObject({ ok: false, detail: `${name}: @ai-sdk/anthropic not installed`, fix });
    install("@ai-sdk/anthropic", "throw new Error('broken');");
    expect(probe(name)).toMatchObject({ ok: false, detail: expect.stringContaining("cannot be loaded: broken"), fix });
    install("@ai-sdk/openai", "");
    expect(probe("openai/x").detail).toBe("openai/x: @ai-sdk/openai makes no provider");
    install("@ai-sdk/groq", "exports.createGroq = () => {};");
    expect(probe("groq/x").detail).toBe("groq/x: this version of ai is too old");
  });

  test("needs a key if its provider requires one", () => {
    install("ai", "exports.generateText = () => {};");
    for (const provider of ["anthropic", "openai", "google", "openai-compatible"])
      install(`@ai-sdk/${provider}`, "exports.createIt = () => {};");
    expect(probe("anthropic/opus")).toEqual({
      name: "model",
      ok: true,
      detail: "anthropic/opus, key in ANTHROPIC_API_KEY",
      fix: "",
    });
    expect(probe("openai/x")).toMatchObject({ ok: false, detail: "openai/x: no key", fix: "Set OPENAI_API_KEY." });
    expect(probe("openai/x", { OPENAI_API_KEY: "" })).toMatchObject({ ok: false });
    expect(probe("google/x").fix).toBe("Set GOOGLE_GENERATIVE_AI_API_KEY.");
    const local = { OPENAI_COMPATIBLE_BASE_URL: "http://127.0.0.1:11434/v1" };
    expect(probe("openai-compatible/x", local)).toMatchObject({
      ok: true,
      detail: "openai-compatible/x, login unknown, at http://127.0.0.1:11434/v1",
    });
  });
});
