import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AGENT_REGISTRY } from "../../../src/agents/registry.ts";

describe("a provider's client is looked at", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remand-probe-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function program(name: string, script: string): void {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const env = (more: Readonly<Record<string, string>> = {}) => ({ PATH: folder, HOME: folder, ...more });
  const wish = { args: [], env: [] };
  const clientProbe = async (
    root: string,
    { use, ...look }: { use: "claude" | "codex"; command?: string; args: readonly string[]; env: readonly string[] },
    source: Readonly<Record<string, string>>,
  ) => (await AGENT_REGISTRY[use].probe({ ...look, root, source }))!;

  test("claude: version, login, and whether its commands have a sandbox", async () => {
    program(
      "claude",
      `case "$1" in
        --version) echo "2.1.325 (Claude Code)" ;;
        auth) if [ -n "$ANTHROPIC_API_KEY" ]; then echo '{"loggedIn":true,"authMethod":"api_key"}'; else echo '{"loggedIn":false}'; exit 1; fi ;;
      esac`,
    );
    expect(await clientProbe(folder, { ...wish, use: "claude" }, env())).toEqual({
      name: "claude",
      ok: false,
      detail: `2.1.325 (${folder}/claude), no login, no sandbox for its commands (install bubblewrap and socat)`,
      fix: "Run `claude` and log in, or set ANTHROPIC_API_KEY.",
    });
    for (const name of ["bwrap", "socat"]) program(name, "");
    const found = await clientProbe(folder, { ...wish, use: "claude" }, env({ ANTHROPIC_API_KEY: "x" }));
    const detail = `2.1.325 (${folder}/claude), login by api_key, sandbox for its commands`;
    expect(found).toEqual({ name: "claude", ok: true, detail, fix: "" });
  });

  test("codex: by its own status, or by a key", async () => {
    program(
      "codex",
      `case "$1" in --version) echo "codex-cli 0.166.0" ;; login) echo "Not logged in" >&2; exit 1 ;; esac`,
    );
    const none = await clientProbe(folder, { ...wish, use: "codex" }, env());
    expect(none).toMatchObject({ ok: false, detail: `0.166.0 (${folder}/codex), no login` });
    expect(none.fix).toContain("codex login");
    const key = await clientProbe(folder, { ...wish, use: "codex" }, env({ CODEX_API_KEY: "x" }));
    expect(key).toMatchObject({ ok: true, detail: `0.166.0 (${folder}/codex), key in CODEX_API_KEY` });
    program(
      "codex",
      `case "$1" in --version) echo "codex-cli 0.166.0" ;; login) echo "Logged in using ChatGPT" ;; esac`,
    );
    const login = await clientProbe(folder, { ...wish, use: "codex" }, env());
    expect(login).toMatchObject({ ok: true, detail: `0.166.0 (${folder}/codex), logged in using chatgpt` });
    const other = await clientProbe(folder, { use: "codex", args: ["-c", "x=1"], env: [] }, env());
    expect(other).toMatchObject({ ok: true, detail: expect.stringContaining("login unknown") });
  });

  test("a missing client, or another program, is reported with how to install it", async () => {
    const missing = await clientProbe(folder, { ...wish, use: "codex", command: "./nowhere" }, env());
    expect(missing).toMatchObject({ ok: false, detail: "./nowhere not found" });
    expect(missing.fix).toContain("npm install -g @openai/codex");
    program("claude", "echo hello");
    const odd = await clientProbe(folder, { ...wish, use: "claude" }, env());
    expect(odd).toMatchObject({ ok: false, detail: `${folder}/claude does not say its version: hello` });
  });

  test("a version that does not report its login is no problem", async () => {
    program("claude", `case "$1" in --version) echo 1.0.0 ;; *) echo "unknown command" >&2; exit 1 ;; esac`);
    const old = await clientProbe(folder, { ...wish, use: "claude" }, env());
    expect(old).toMatchObject({ ok: true, detail: expect.stringContaining("login unknown") });
  });
});
