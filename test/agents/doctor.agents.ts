import { afterEach, expect, test } from "vitest";
import { acpProbe, clientProbe, modelProbe } from "../../src/compose/agents/agent-probes.ts";
import { clientProgram, clientRoot, clientVersion } from "./installed-clients.ts";
import { modelAndHome } from "./model-and-home.ts";

const place = modelAndHome("for all tests");
afterEach(() => {
  // To be looked at is to be asked nothing.
  const asked = [...place.server.requests.map(({ prompt }) => prompt), ...place.server.unexpected];
  if (asked.length > 0) throw new Error(`it asked its model: ${asked.join(", ")}`);
});
const env = (more: Readonly<Record<string, string>> = {}) => ({
  PATH: process.env["PATH"],
  HOME: place.home,
  // With a key at hand Claude Code knocks at its provider's door.
  ANTHROPIC_BASE_URL: place.server.url,
  ...more,
});

test.each([
  ["claude", clientVersion("claude"), "ANTHROPIC_API_KEY", "login by api_key"],
  ["codex", clientVersion("codex"), "CODEX_API_KEY", "key in CODEX_API_KEY"],
] as const)("real %s says its version %s and its login", async (use, version, key, login) => {
  const wish = { use, command: clientProgram(use), args: [], env: [] };
  const without = await clientProbe(place.home, wish, env());
  expect(without).toMatchObject({ ok: false, detail: expect.stringMatching(`${version}.*no login`) });
  const found = await clientProbe(place.home, wish, env({ [key]: "none" }));
  expect(found).toMatchObject({ ok: true, detail: expect.stringMatching(`${version}.*${login}`) });
  // Also as a package of a project, without a word about where it is.
  const installed = await clientProbe(
    clientRoot(use),
    { ...wish, command: undefined },
    { ...env(), PATH: "/usr/bin:/bin" },
  );
  expect(installed.detail).toContain(version);
});

test("a real agent by the Agent Client Protocol is greeted, and its model is not asked", async () => {
  const source = env({ ...place.server.env, CLAUDE_CODE_EXECUTABLE: clientProgram("claude") });
  const wish = { use: "acp", command: clientProgram("acp"), env: ["ANTHROPIC_*", "CLAUDE_CODE_*"] } as const;
  expect(await acpProbe(wish, source)).toEqual({
    name: "acp",
    ok: true,
    detail: expect.stringMatching(`${clientVersion("acp")}\\), resumes conversations, takes tools to report by$`),
    fix: "",
  });
  // The program alone, called as it is not meant to be.
  const other = await acpProbe({ ...wish, command: `${clientProgram("claude")} --version` }, source);
  expect(other).toMatchObject({ ok: false, fix: expect.stringContaining("--acp") });
});

test.each(["anthropic", "openai", "openai-compatible", "google"])(
  "the real packages of %s can be loaded",
  (provider) => {
    const wish = { use: "model", model: `${provider}/x` } as const;
    const keys = { ANTHROPIC_API_KEY: "x", OPENAI_API_KEY: "x", GOOGLE_GENERATIVE_AI_API_KEY: "x" };
    expect(modelProbe(clientRoot("model"), wish, keys)).toMatchObject({ ok: true });
    expect(modelProbe(place.home, wish, keys)).toMatchObject({
      ok: false,
      fix: expect.stringContaining("npm install"),
    });
  },
);
