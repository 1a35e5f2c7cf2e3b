import { afterAll, beforeAll, expect, test } from "vitest";
import { clientProbe } from "../../src/compose/client-probe.ts";
import { clientProgram, clientRoot, clientVersion, makeHome, removeHome } from "./installed-clients.ts";

let home: string;
beforeAll(() => {
  home = makeHome();
});
afterAll(() => removeHome(home));
const env = (more: Readonly<Record<string, string>> = {}) => ({ PATH: process.env["PATH"], HOME: home, ...more });

test.each([
  ["claude", clientVersion("claude"), "ANTHROPIC_API_KEY", "login by api_key"],
  ["codex", clientVersion("codex"), "CODEX_API_KEY", "key in CODEX_API_KEY"],
] as const)("real %s says its version %s and its login", async (use, version, key, login) => {
  const wish = { use, command: clientProgram(use), args: [], env: [] };
  const without = await clientProbe(home, wish, env());
  expect(without).toMatchObject({ ok: false, detail: expect.stringMatching(`${version}.*no login`) });
  const found = await clientProbe(home, wish, env({ [key]: "none" }));
  expect(found).toMatchObject({ ok: true, detail: expect.stringMatching(`${version}.*${login}`) });
  // Also as a package of a project, without a word about where it is.
  const installed = await clientProbe(
    clientRoot(use),
    { ...wish, command: undefined },
    { ...env(), PATH: "/usr/bin:/bin" },
  );
  expect(installed.detail).toContain(version);
});
