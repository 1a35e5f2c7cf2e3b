import { afterEach, expect, test } from "vitest";
import { acpProbe } from "../../src/agents/acp/acp-greeting.ts";
import { modelProbe } from "../../src/agents/model/model-provider.ts";
import { AGENT_REGISTRY } from "../../src/agents/registry.ts";
import { clientProgram, clientRoot, clientVersion } from "./installed-clients.ts";
import { modelAndHome } from "./model-and-home.ts";

const place = modelAndHome("for all tests");
afterEach(() => {
  // A probe must not call the model.
  const asked = [...place.server.requests.map(({ prompt }) => prompt), ...place.server.unexpected];
  if (asked.length > 0) throw new Error(`it asked its model: ${asked.join(", ")}`);
});
const env = (more: Readonly<Record<string, string>> = {}) => ({
  PATH: process.env["PATH"],
  HOME: place.home,
  // With a key in the environment Claude Code connects to its provider.
  ANTHROPIC_BASE_URL: place.server.url,
  ...more,
});

test.each([
  ["claude", clientVersion("claude"), "ANTHROPIC_API_KEY", "login by api_key"],
  ["codex", clientVersion("codex"), "CODEX_API_KEY", "key in CODEX_API_KEY"],
] as const)("real %s reports its version %s and its login", async (use, version, key, login) => {
  const { probe } = AGENT_REGISTRY[use];
  const look = { root: place.home, command: clientProgram(use), args: [], env: [] };
  const without = await probe({ ...look, source: env() });
  expect(without).toMatchObject({ ok: false, detail: expect.stringMatching(`${version}.*no login`) });
  const found = await probe({ ...look, source: env({ [key]: "none" }) });
  expect(found).toMatchObject({ ok: true, detail: expect.stringMatching(`${version}.*${login}`) });
  // Also as a package of a project, without a configured path.
  const installed = await probe({
    ...look,
    root: clientRoot(use),
    command: undefined,
    source: { ...env(), PATH: "/usr/bin:/bin" },
  });
  expect(installed?.detail).toContain(version);
});

test("a real agent by the Agent Client Protocol is initialized, and its model is not called", async () => {
  const source = env({ ...place.server.env, CLAUDE_CODE_EXECUTABLE: clientProgram("claude") });
  const wish = { command: clientProgram("acp"), env: ["ANTHROPIC_*", "CLAUDE_CODE_*"] };
  expect(await acpProbe(wish, source)).toEqual({
    name: "acp",
    ok: true,
    detail: expect.stringMatching(`${clientVersion("acp")}\\), resumes conversations, takes tools to report by$`),
    fix: "",
  });
  // The program alone, called without its protocol option.
  const other = await acpProbe({ ...wish, command: `${clientProgram("claude")} --version` }, source);
  expect(other).toMatchObject({ ok: false, fix: expect.stringContaining("--acp") });
});

test.each(["anthropic", "openai", "openai-compatible", "google"])(
  "the real packages of %s can be loaded",
  (provider) => {
    const model = `${provider}/x`;
    const keys = { ANTHROPIC_API_KEY: "x", OPENAI_API_KEY: "x", GOOGLE_GENERATIVE_AI_API_KEY: "x" };
    expect(modelProbe(clientRoot("model"), model, keys)).toMatchObject({ ok: true });
    expect(modelProbe(place.home, model, keys)).toMatchObject({
      ok: false,
      fix: expect.stringContaining("npm install"),
    });
  },
);
