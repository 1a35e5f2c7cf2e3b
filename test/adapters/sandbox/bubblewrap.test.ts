import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createBubblewrap } from "../../../src/adapters/sandbox/bubblewrap.ts";
import { type PathRule, privatePaths } from "../../../src/adapters/sandbox/path-rules.ts";
import { testSandbox } from "../../../src/adapters/sandbox/open-sandboxes.ts";
import { type ProcessSpec, runProcess } from "../../../src/adapters/process/run-process.ts";
import { mountFolder, showFolder, textOutside } from "../../../src/adapters/process/mounted-folder.ts";
import type { Sandbox } from "../../../src/ports/sandbox.ts";
import { missingSandbox } from "../../kit/sandbox.ts";

const missing = missingSandbox();

let folder: string;
const at = (path: string): string => join(folder, path);

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "remand-cell-test-")));
  for (const name of ["work/.git", "other", "secret", "home"]) mkdirSync(at(name), { recursive: true });
  for (const name of ["other/file", "secret/file", "home/file", "work/.git/config"])
    writeFileSync(at(name), "before\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function sandboxWith(
  rules: readonly PathRule[] = [],
  { network = "shared", top = "work" }: { network?: "shared" | "none"; top?: string } = {},
): Sandbox {
  return createBubblewrap({
    level: { kind: "bubblewrap", held: ["files", "processes"], allowed: [] },
    rules: [{ path: at("secret"), kind: "hidden" }, { path: at("home"), kind: "copy" }, ...rules],
    texts: new Map(),
    isWithheld: (name) => name === "WITHHELD",
    namedTempKind: "read",
    top: at(top),
    commonDir: at(`${top}/.git`),
    network,
  });
}

const run = (command: ProcessSpec["command"], spec: Partial<ProcessSpec> = {}) =>
  runProcess({
    command,
    cwd: at("work"),
    env: { PATH: process.env["PATH"] ?? "", HOME: at("home"), WITHHELD: "x", PLACE: folder },
    timeoutMs: 30_000,
    sandbox: sandboxWith(),
    ...spec,
  });

describe.skipIf(missing !== null)(`bubblewrap${missing === null ? "" : ` (${missing})`}`, () => {
  test("keeps writes in the program's own folder, drops those in a copy, and rejects others", async () => {
    const { output } = await run(
      `echo a > made; echo b > "$HOME/file"; cat "$HOME/file"; echo c > "${at("other/file")}"; cat "${at("secret/file")}"; echo "<$WITHHELD>"`,
    );
    expect(readFileSync(at("work/made"), "utf8")).toBe("a\n");
    expect(output).toContain("b\n");
    expect(readFileSync(at("home/file"), "utf8")).toBe("before\n");
    expect(readFileSync(at("other/file"), "utf8")).toBe("before\n");
    expect(output).not.toContain("before");
    expect(output).toContain("<>");
  });

  test("shows git's history as a copy too", async () => {
    const { output } = await run("echo after > .git/config; cat .git/config; echo '#!' > .git/hook");
    expect(output).toBe("after\n");
    expect(readFileSync(at("work/.git/config"), "utf8")).toBe("before\n");
    expect(existsSync(at("work/.git/hook"))).toBe(false);
  });

  test("shows a checkout at the user's path, with its history, covering the user's checkout", async () => {
    const git = (cwd: string, ...args: readonly string[]): string =>
      execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
        cwd: at(cwd),
        encoding: "utf8",
      });
    for (const name of ["user", "clean"]) git(".", "init", "--quiet", "--initial-branch=main", name);
    writeFileSync(at("user/file"), "user's\n");
    git("user", "add", "file");
    git("user", "commit", "--quiet", "--message", "the first");
    writeFileSync(at("user/ignored"), "user's\n");
    writeFileSync(at("clean/.git/objects/info/alternates"), `${at("user/.git/objects")}\n`);
    writeFileSync(at("clean/.git/refs/heads/main"), git("user", "rev-parse", "HEAD"));
    mkdirSync(at("clean/below"));
    writeFileSync(at("clean/file"), "checked out\n");
    const hide = showFolder({ folder: at("clean"), at: at("user") });
    try {
      const { output } = await run(
        `pwd; echo "$ROOT"; cat ../file; ls ..; git log --format=%s; git show HEAD:file; echo made > ../made; echo ${at("clean/below")} ${at("clean-2")}`,
        {
          cwd: at("clean/below"),
          env: { PATH: process.env["PATH"] ?? "", HOME: at("home"), ROOT: `x:${at("clean")}` },
          sandbox: sandboxWith([{ path: at("user/.git"), kind: "copy" }], { top: "user" }),
        },
      );
      expect(output.split("\n")).toEqual([
        at("user/below"),
        `x:${at("user")}`,
        "checked out",
        "below",
        "file",
        "the first",
        "user's",
        `${at("user/below")} ${at("clean-2")}`,
        "",
      ]);
      expect(readFileSync(at("clean/made"), "utf8")).toBe("made\n");
      expect(existsSync(at("user/made"))).toBe(false);
      expect(textOutside(`at ${at("user/below/x.js")}:3 of ${at("user-2")}`, at("clean"))).toBe(
        `at ${at("clean/below/x.js")}:3 of ${at("user-2")}`,
      );
    } finally {
      hide();
    }
    expect((await run("pwd", { cwd: at("clean") })).output).toBe(`${at("clean")}\n`);
  });

  test("lets tools write among installed packages in a hidden folder, without changing them", async () => {
    const project = {
      top: at("work"),
      commonDir: at("work/.git"),
      state: at("work/.remand"),
      remandFolders: [at("secret")],
    };
    mkdirSync(at("secret/store/helper"), { recursive: true });
    writeFileSync(at("secret/store/helper/index.js"), "before\n");
    const user = { home: undefined, env: {}, docker: false, read: [], write: [], checks: [], variables: [] };
    const rules = privatePaths({ ...project, packages: [at("secret/store")], readableFolders: [] }, user);
    const [file, made] = [at("secret/store/helper/index.js"), at("secret/store/helper/types.d.ts")];
    const { output } = await run(`echo after > "${file}"; echo x > "${made}"; cat "${file}" "${made}"; ls ../secret`, {
      sandbox: sandboxWith(rules),
    });
    expect(output).toBe("after\nx\nstore\n");
    expect(readFileSync(file, "utf8")).toBe("before\n");
    expect(existsSync(made)).toBe(false);
  });

  test("does not give a program that removes its own .git the checkout around it", async () => {
    mkdirSync(at("work/.remand/worktrees/a"), { recursive: true });
    const sandbox = sandboxWith([
      { path: at("work"), kind: "read" },
      { path: at("work/.remand"), kind: "hidden" },
    ]);
    await run("echo x > ../../../planted; echo y > own", { sandbox, cwd: at("work/.remand/worktrees/a") });
    expect(readdirSync(at("work"))).not.toContain("planted");
    expect(readFileSync(at("work/.remand/worktrees/a/own"), "utf8")).toBe("y\n");
  });

  test("passes exit codes, input and start failures on", async () => {
    expect(await run("exit 7")).toMatchObject({ status: "exited", exitCode: 7 });
    expect(await run(["cat"], { stdin: "hello" })).toMatchObject({ exitCode: 0, stdout: "hello" });
    expect(await run(["no-such-program"])).toMatchObject({ status: "failed-to-start", failure: { code: "ENOENT" } });
  });

  test("passes a soft signal to the program, and not to the sandbox around it", async () => {
    const script = "trap 'echo asked; exit 3' INT; echo begun; while :; do sleep 0.05; done";
    const ended = await run(["sh", "-c", script], { timeoutMs: 1500, graceMs: 10_000 });
    expect(ended).toMatchObject({ status: "timeout", exitCode: 3 });
    expect(ended.stdout).toContain("asked");
  });

  test("ends everything that the program started, and leaves nothing on disk", async () => {
    const before = readdirSync("/var/tmp").filter((name) => name.startsWith("remand-cell-"));
    const script =
      "setsid env -i sh -c 'while :; do echo >> ticks; sleep 0.02; done' & while [ ! -s ticks ]; do :; done";
    await run(script);
    const size = readFileSync(at("work/ticks")).length;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(readFileSync(at("work/ticks")).length).toBe(size);
    const after = readdirSync("/var/tmp").filter((name) => name.startsWith("remand-cell-"));
    expect(after.filter((name) => !before.includes(name)).length).toBeLessThan(2);
  });

  test("without a network, connects only to itself", async () => {
    const { stdout } = await run("cat /proc/net/dev | grep -c :", { sandbox: sandboxWith([], { network: "none" }) });
    expect(stdout.trim()).toBe("1");
  });

  test("shows a mounted folder as the program's own", async () => {
    mkdirSync(at("lower"));
    mkdirSync(at("runs"));
    writeFileSync(at("lower/file"), "lower\n");
    const mounted = await mountFolder({ path: at("runs/0"), lower: [at("lower")], aside: at("aside") });
    if (mounted === null) return;
    try {
      const { output } = await run("cat file; echo upper > file; cat file; echo x > ../y", { cwd: at("runs/0") });
      expect(output).toContain("lower\nupper\n");
      expect(readFileSync(join(mounted.upper, "file"), "utf8")).toBe("upper\n");
      expect(existsSync(at("runs/y"))).toBe(false);
    } finally {
      await mounted.unmount();
    }
  });

  test("reports what the self-test confirmed", async () => {
    expect(await testSandbox((rules) => sandboxWith(rules), at("tried"))).toEqual({
      held: ["files", "processes"],
      problem: null,
    });
  });
});

test("the self-test rejects a sandbox that protects nothing, and says what got through", async () => {
  const leaky: Sandbox = {
    level: { kind: "bubblewrap", held: [], allowed: [] },
    open: ({ env, command }) => Promise.resolve({ env, commandLine: command, close: () => Promise.resolve() }),
  };
  const { held, problem } = await testSandbox(() => leaky, at("tried"));
  expect(held).toEqual([]);
  expect(problem).toContain("wrote outside of its folder, and read a hidden file");
});

test("the self-test says why a sandbox does not start", async () => {
  const broken: Sandbox = {
    level: { kind: "bubblewrap", held: [], allowed: [] },
    open: ({ env }) =>
      Promise.resolve({
        env,
        commandLine: ["sh", "-c", "echo no namespaces >&2; exit 1"],
        close: () => Promise.resolve(),
      }),
  };
  expect(await testSandbox(() => broken, at("tried"))).toEqual({ held: [], problem: "no namespaces" });
});
