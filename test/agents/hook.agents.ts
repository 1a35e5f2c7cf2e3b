import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { clientProgram } from "./installed-clients.ts";
import { modelAndHome } from "./model-and-home.ts";
import type { Reply } from "../../src/testing/wire.ts";

const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const plugin = fileURLToPath(new URL("../../plugin", import.meta.url));

const place = modelAndHome("for each test");
let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "remand-inside-"));
  writeFileSync(join(place.home, "remand"), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(join(place.home, "remand"), 0o755);
  write("check.cjs", CHECK);
  write("add.cjs", "exports.add = (a, b) => a + b;\n");
  write(
    "remand.yaml",
    "version: 1\npreset: goal\nblame: { prove: false }\ngates: { checks: { commands: [node check.cjs] } }\n",
  );
  const git = (...args: string[]): void => void execFileSync("git", args, { cwd: project });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "start");
});
afterEach(() => {
  rmSync(project, { recursive: true, force: true });
});

const CHECK = `const { add, double } = require("./add.cjs");
const is = (what, got, wanted) => { if (got !== wanted) { console.error(what + " is " + got + ", not " + wanted); process.exit(1); } };
is("add(1, 2)", add(1, 2), 3);
is("double(4)", double?.(4), 8);
`;
const versions = ["a - b", "a * b", "b + a"].map(
  (sum, at) => `exports.add = (a, b) => ${sum};\nexports.double = (a) => a * 2;${at === 2 ? "" : ` // ${at}`}\n`,
);
const write = (name: string, text: string): void => writeFileSync(join(project, name), text);

interface Ended {
  readonly exit: number | null;
  readonly out: string;
}

function start(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin = "",
): Promise<Ended> {
  const PATH = `${place.home}:${process.env["PATH"]}`;
  const child = spawn(program, args, { cwd: project, env: { PATH, HOME: place.home, ...env } });
  let out = "";
  child.stdout.on("data", (data: Buffer) => (out += data.toString()));
  child.stderr.on("data", (data: Buffer) => (out += data.toString()));
  child.stdin.end(stdin);
  return new Promise((resolve) => child.on("close", (exit) => resolve({ exit, out })));
}

/** Lets the model write each version, and report it as done. */
function scriptOf(texts: readonly string[], writes: (text: string) => Reply): void {
  let turn = 0;
  place.server.script(() => {
    const at = turn++;
    const text = texts[Math.floor(at / 2)];
    return at % 2 === 1 || text === undefined ? { says: `version ${Math.floor(at / 2) + 1} is done` } : writes(text);
  });
}

const CLAUDE = (text: string): Reply => ({
  calls: "Write",
  input: { file_path: join(project, "add.cjs"), content: text },
});
/** Keeps a client that is started by hand from connecting to its vendor. */
const QUIET = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };
const claude = (more: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  start(
    clientProgram("claude"),
    ["-p", "--plugin-dir", plugin, "--permission-mode", "acceptEdits", "--output-format", "stream-json", "--verbose"],
    {
      ANTHROPIC_BASE_URL: place.server.url,
      ANTHROPIC_API_KEY: "none",
      ...QUIET,
      ...more,
    },
    "read add.cjs, then add double to it",
  );
const status = async (): Promise<{ exit: number | null; sessions: readonly object[] }> => {
  const { exit, out } = await start(join(place.home, "remand"), ["hook", "status", "--json"], {});
  return { exit, ...(JSON.parse(out) as { sessions: readonly object[] }) };
};

describe("inside real claude", () => {
  test("the client accepts the plugin", async () => {
    const { exit, out } = await start(clientProgram("claude"), ["plugin", "validate", plugin], QUIET);
    expect(exit, out).toBe(0);
  });

  test("the work goes back until the check passes, in three rounds", async () => {
    scriptOf(versions, CLAUDE);
    rmSync(join(project, "add.cjs"));
    const { exit, out } = await claude();
    expect(exit, out).toBe(0);
    expect(readFileSync(join(project, "add.cjs"), "utf8"), out).toBe(versions[2]);
    expect(await status(), out).toMatchObject({ exit: 0, sessions: [{ standing: "passed", blocks: 2 }] });
    const brief = place.server.requests.map(({ text }) => text).find((text) => text.includes("REWORK BRIEF"));
    expect(brief).toContain("add(1, 2) is -1, not 3");
    expect(place.server.unexpected).toEqual([]);
  });

  test("a client that lets its agent stop does not make that a pass", async () => {
    // The agent repeats itself, with stall detection switched off.
    scriptOf([versions[0]!], CLAUDE);
    rmSync(join(project, "add.cjs"));
    write(
      "remand.yaml",
      `${readFileSync(join(project, "remand.yaml"), "utf8")}stall: { sameFailure: 0, unchanged: 0, plateau: 0 }\nlimits: { perLocation: 10 }\n`,
    );
    const { out } = await claude({ CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "2" });
    expect(out).toContain('"is_error":false');
    expect(await status(), out).toMatchObject({ exit: 3, sessions: [{ standing: "held", blocks: 3 }] });
  });

  test("an agent that never fixes the work may stop within the limits, and the record has no pass", async () => {
    scriptOf([versions[0]!], CLAUDE);
    rmSync(join(project, "add.cjs"));
    const { out } = await claude();
    const { exit, sessions } = await status();
    expect({ exit, sessions }, out).toMatchObject({ exit: 3, sessions: [{ standing: "released" }] });
    // Long before the client itself gives up.
    expect(place.server.requests.length).toBeLessThan(12);
    expect(place.server.unexpected).toEqual([]);
  });
});

describe("inside real codex", () => {
  const codex = (): Promise<Ended> => {
    const stop = [{ hooks: [{ type: "command", command: "remand hook stop" }] }];
    writeFileSync(join(place.home, "hooks.json"), JSON.stringify({ hooks: { Stop: stop } }));
    const args = ["exec", "--json", "--dangerously-bypass-hook-trust", "--sandbox", "workspace-write", "-m", "gpt-5.5"];
    const quiet = ["-c", "analytics.enabled=false", "--disable", "plugins", "--disable", "apps"];
    return start(
      clientProgram("codex"),
      [...args, ...quiet, ...place.server.codexArgs, "-"],
      { CODEX_HOME: place.home, CODEX_API_KEY: "none" },
      "add double to add.cjs",
    );
  };

  test("an agent that never fixes the work may stop within the limits, and the record has no pass", async () => {
    scriptOf([], () => ({ says: "done" }));
    write("add.cjs", versions[0]!);
    const { out } = await codex();
    const { exit, sessions } = await status();
    expect({ exit, sessions }, out).toMatchObject({ exit: 3, sessions: [{ standing: "released" }] });
    expect(place.server.requests.length).toBeLessThan(12);
    expect(place.server.unexpected).toEqual([]);
  });

  test("the work goes back until the check passes", async () => {
    let before = readFileSync(join(project, "add.cjs"), "utf8");
    scriptOf(versions, (text) => {
      const minus = before
        .trimEnd()
        .split("\n")
        .map((line) => `-${line}`);
      const plus = text
        .trimEnd()
        .split("\n")
        .map((line) => `+${line}`);
      before = text;
      return {
        calls: "apply_patch",
        input: ["*** Begin Patch", "*** Update File: add.cjs", "@@", ...minus, ...plus, "*** End Patch"].join("\n"),
      };
    });
    const { exit, out } = await codex();
    expect(exit, out).toBe(0);
    expect(readFileSync(join(project, "add.cjs"), "utf8"), out).toBe(versions[2]);
    expect(await status(), out).toMatchObject({ exit: 0, sessions: [{ standing: "passed", blocks: 2 }] });
  });
});
