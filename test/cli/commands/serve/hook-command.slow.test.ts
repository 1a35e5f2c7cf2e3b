import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNodeFiles } from "../../../../src/adapters/files/node-files.ts";
import { command as hook } from "../../../../src/cli/commands/serve/hook.ts";
import { createHost } from "../../../../src/compose/host.ts";
import type { Interrupt } from "../../../../src/app/command.ts";
import { run, type Ran } from "../../../kit/fake-environment.ts";

describe("remand hook stop, on a real checkout", () => {
  let root: string;
  const env = { PATH: process.env["PATH"], HOME: tmpdir() };
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" });
  const write = (name: string, text: string): void => writeFileSync(join(root, name), text);
  const CONFIG =
    "version: 1\npreset: critic-audit\nblame: { prove: false }\ngates: { checks: { commands: [node check.cjs] } }\n";

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "remand-hook-"));
    git("init", "--quiet", "--initial-branch=main");
    git("config", "user.email", "test@example.com");
    git("config", "user.name", "Test");
    write(
      "check.cjs",
      "const { add } = require('./add.cjs');\nif (add(1, 2) !== 3) { console.error('add(1, 2) is ' + add(1, 2)); process.exit(1); }\n",
    );
    write("add.cjs", "exports.add = (a, b) => a + b;\n");
    write("remand.yaml", CONFIG);
    git("add", ".");
    git("commit", "--quiet", "-m", "start");
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function stop(
    document: object | string = {},
    args: readonly string[] = [],
    more: Record<string, string> = {},
    what = "stop",
  ): Promise<Ran> {
    const stdin =
      typeof document === "string"
        ? document
        : JSON.stringify({ hook_event_name: "Stop", session_id: "s-1", ...document });
    return run(["hook", what, ...args], [hook], {
      cwd: root,
      env: { ...env, ...more },
      files: createNodeFiles(),
      host: createHost({ ...env, ...more }),
      isFolder: () => Promise.resolve(false),
      stdin: () => Promise.resolve(stdin),
      onInterrupt: (heard) => {
        onSignal = heard;
        return () => undefined;
      },
    });
  }
  let onSignal: (signal: Interrupt) => void = () => undefined;
  const answer = ({ out }: Ran): { decision?: string; reason?: string; systemMessage?: string } =>
    JSON.parse(out) as object;
  const records = (): Record<string, unknown>[] =>
    readdirSync(join(root, ".remand", "hooks")).map(
      (name) => JSON.parse(readFileSync(join(root, ".remand", "hooks", name), "utf8")) as Record<string, unknown>,
    );

  it("lets an agent stop if the checks pass, and says so", async () => {
    write("add.cjs", "exports.add = (a, b) => b + a;\n");
    const ran = await stop();
    expect(ran.exit, ran.err).toBe(0);
    expect(answer(ran)).toEqual({ systemMessage: expect.stringContaining("remand: passed") });
    expect(records()).toMatchObject([{ session: "s-1", standing: "passed", blocks: 0 }]);
  });

  it("sends the agent back with a brief while checks fail, releases it at the limit, and does not call that a pass", async () => {
    write("add.cjs", "exports.add = (a, b) => a - b;\n");
    const first = await stop();
    expect(first.exit, first.err).toBe(0);
    expect(answer(first)).toMatchObject({ decision: "block" });
    expect(answer(first).reason).toContain("## REWORK BRIEF");
    expect(answer(first).reason).toContain("add(1, 2) is -1");
    expect(answer(first).reason).toContain("Simply stop");
    expect(answer(first).reason).not.toContain("READY_FOR_REVIEW");
    write("add.cjs", "exports.add = (a, b) => a * b;\n");
    const second = await stop({ stop_hook_active: true });
    expect(answer(second)).toMatchObject({ decision: "block" });
    expect(records()).toMatchObject([{ standing: "held", blocks: 2 }]);
    write("add.cjs", "exports.add = (a, b) => a / b;\n");
    const third = await stop({ stop_hook_active: true });
    expect(third.exit).toBe(0);
    expect(answer(third).decision).toBeUndefined();
    expect(answer(third).systemMessage).toMatch(
      /^remand: NOT PASSED: .*3 attempts rejected · 1 finding open: .*add\(1, 2\) is 0\.5/,
    );
    expect(records()).toMatchObject([{ standing: "released" }]);
    // Another hook of the client makes the agent continue; this one has released it.
    const fourth = await stop({ stop_hook_active: true });
    expect(answer(fourth).decision).toBeUndefined();
    expect(answer(fourth).systemMessage).toContain("NOT PASSED");
    // A person writes, and the agent works: everything starts over.
    write("add.cjs", "exports.add = (a, b) => a - b;\n");
    expect(answer(await stop({ stop_hook_active: false }))).toMatchObject({ decision: "block" });
    write("add.cjs", "exports.add = (a, b) => b + a;\n");
    expect(answer(await stop({ stop_hook_active: true })).systemMessage).toContain("passed");
  });

  it("ends even if the client never reports a continuation, and if the agent changes nothing", async () => {
    write("add.cjs", "exports.add = (a, b) => a - b;\n");
    let blocks = 0;
    while (answer(await stop()).decision === "block") if (++blocks > 5) break;
    expect(blocks).toBe(1);
    expect(records()).toMatchObject([
      { standing: "released", why: expect.stringContaining("left the work as it was") },
    ]);
  });

  it("does not send a conversation back for earlier failures while it has changed nothing", async () => {
    write("add.cjs", "exports.add = (a, b) => a - b;\n");
    git("commit", "--quiet", "-am", "broken");
    const started = await stop({ hook_event_name: "SessionStart", source: "startup" }, [], {}, "start");
    expect(started).toMatchObject({ exit: 0, out: "{}\n" });
    for (const _ of [1, 2]) {
      const ran = await stop();
      expect(answer(ran)).toEqual({ systemMessage: expect.stringMatching(/NOT PASSED.*no file was changed/) });
    }
    // A compacted conversation does not start over.
    write("add.cjs", "exports.add = (a, b) => a * b;\n");
    await stop({ hook_event_name: "SessionStart", source: "compact" }, [], {}, "start");
    expect(answer(await stop({}, ["--block-red-before"]))).toMatchObject({ decision: "block" });
    // After a restart of the client, it is still sent back.
    await stop({ hook_event_name: "SessionStart", source: "resume" }, [], {}, "start");
    expect(records()).toMatchObject([{ standing: "held", blocks: 1 }]);
  });

  it("reports tests that failed before the conversation, and sends it back only for the others", async () => {
    write("a.test.cjs", "require('node:test')('old', () => { throw new Error('old fault'); });\n");
    write(
      "b.test.cjs",
      "const { add } = require('./add.cjs');\nrequire('node:test')('new', () => { if (add(1, 2) !== 3) throw new Error('new fault'); });\n",
    );
    write("remand.yaml", CONFIG.replace("node check.cjs", "node --test"));
    git("add", ".");
    git("commit", "--quiet", "-m", "one test is red");
    await stop({ hook_event_name: "SessionStart", source: "startup" }, [], {}, "start");
    write("add.cjs", "exports.add = (a, b) => b + a;\n");
    const passed = answer(await stop());
    expect(passed.decision).toBeUndefined();
    expect(passed.systemMessage).toMatch(/^remand: passed: .*1 failure from before the conversation: old/);
    expect(records()).toMatchObject([{ standing: "passed", before: [expect.stringContaining("old")] }]);
    // The files of the start are not checked again, because the record has the result.
    write("add.cjs", "exports.add = (a, b) => a - b;\n");
    const held = answer(await stop());
    expect(held).toMatchObject({ decision: "block" });
    expect(held.reason).toContain("new fault");
    expect(held.reason).not.toContain("Test: a.test.cjs");
    write("add.cjs", "exports.add = (a, b) => b + a;\n");
    expect(answer(await stop({ stop_hook_active: true }, ["--block-red-before"]))).toMatchObject({
      decision: "block",
      reason: expect.stringContaining("old fault"),
    });
  });

  it("does not charge a conversation for changes from before its start", async () => {
    write("remand.yaml", `${readFileSync(join(root, "remand.yaml"), "utf8")}# a person's own edit\n`);
    write("draft.cjs", "a person's own draft\n");
    await stop({ hook_event_name: "SessionStart", source: "startup" }, [], {}, "start");
    write("add.cjs", "exports.add = (a, b) => b + a;\n");
    expect(answer(await stop()).systemMessage).toContain("remand: passed");
    // A restart does not move the start: the conversation's own change of the rules counts.
    write("remand.yaml", `${readFileSync(join(root, "remand.yaml"), "utf8")}# its edit\n`);
    await stop({ hook_event_name: "SessionStart", source: "startup" }, [], {}, "start");
    write("add.cjs", "exports.add = (a, b) => a + b + 0;\n");
    const sent = answer(await stop());
    expect(sent).toMatchObject({ decision: "block" });
    expect(sent.reason).toContain("remand.yaml");
    expect(sent.reason).not.toContain("draft.cjs");
  });

  it("reports changed rules and does not block for them where no start is known", async () => {
    write("remand.yaml", `${readFileSync(join(root, "remand.yaml"), "utf8")}# what init wrote\n`);
    write("add.cjs", "exports.add = (a, b) => b + a;\n");
    const passed = answer(await stop());
    expect(passed.decision).toBeUndefined();
    expect(passed.systemMessage).toContain("not known who changed remand.yaml");
    write("add.cjs", "exports.add = (a, b) => a - b;\n");
    const sent = answer(await stop());
    expect(sent).toMatchObject({ decision: "block", reason: expect.stringContaining("add(1, 2) is -1") });
    expect(sent.reason).not.toContain("this file says how the work is judged");
  });

  it("drives the engine: a rework is limited to the scope of its brief, and old records are continued", async () => {
    write("add.cjs", "exports.add = (a, b) => a - b;\n");
    const first = answer(await stop({}, ["--set", "blame.prove=true"]));
    expect(first.reason).toContain("ONLY modify add.cjs");
    const [record] = records() as { lines: { event: { type: string } }[] }[];
    const types = record!.lines.map(({ event }) => event.type);
    expect(types).toEqual(expect.arrayContaining(["gate.started", "step.started", "blame.found", "work.sent-back"]));
    // Older records have no lines for the start of a step.
    const lines = record!.lines.filter(({ event }) => !["gate.started", "step.started"].includes(event.type));
    const [name] = readdirSync(join(root, ".remand", "hooks"));
    write(join(".remand", "hooks", name!), JSON.stringify({ ...record, lines }));
    write("add.cjs", "exports.add = (a, b) => b + a;\n");
    write("other.cjs", "exports.other = 1;\n");
    const second = answer(await stop({ stop_hook_active: true }));
    expect(second).toMatchObject({ decision: "block" });
    expect(second.reason).toContain("other.cjs: this file is outside of what the rework may touch");
    expect(second.reason).not.toContain("READY_FOR_REVIEW");
    expect(records()).toMatchObject([{ standing: "held", blocks: 2 }]);
    write("other.cjs", "exports.other = 2;\n");
    const said = "Scope exception: other.cjs: add.cjs needs it";
    const third = answer(await stop({ stop_hook_active: true, last_assistant_message: said }));
    // A reason of the agent allows nothing; removing the file does.
    expect(third.systemMessage ?? "").not.toContain("remand: passed");
    rmSync(join(root, "other.cjs"));
    const fourth = answer(await stop({ stop_hook_active: true }));
    expect(fourth.systemMessage).toContain("remand: passed");
  });

  it("a broken gate lets the agent stop, and a killed hook leaves the record unchanged", async () => {
    write("add.cjs", "exports.add = (a, b) => b + a;\n");
    const set = (command: string): string[] => ["--set", `gates.checks.commands=[${command}]`];
    const broken = answer(await stop({}, set("./missing.sh")));
    expect(broken.decision).toBeUndefined();
    expect(broken.systemMessage).toMatch(/^remand: NOT PASSED: the checks gate broke 1 time\. .*missing\.sh/);
    const before = records();
    const slow = stop({ stop_hook_active: true }, set("sleep 60"));
    setTimeout(() => onSignal("SIGTERM"), 500);
    expect((await slow).out).toBe("");
    expect(records()).toEqual(before);
    expect(answer(await stop({ stop_hook_active: true })).systemMessage).toContain("remand: passed");
  });

  it("keeps conversations apart, whatever their names are", async () => {
    write("add.cjs", "exports.add = (a, b) => a - b;\n");
    await stop({ session_id: "../../etc/passwd" });
    expect(answer(await stop({ session_id: "b" }))).toMatchObject({ decision: "block" });
    expect(
      records()
        .map(({ session }) => String(session))
        .sort(),
    ).toEqual(["../../etc/passwd", "b"]);
    expect(git("status", "--porcelain")).toBe(" M add.cjs\n");
  });

  it.each([
    ["a config that is wrong", "remand.yaml", "version: 1\npresett: goal\n", []],
    ["a config that is no YAML", "remand.yaml", "{{{", []],
    ["an option that does not exist", "remand.yaml", CONFIG, ["--bogus"]],
    ["a folder that does not exist", "remand.yaml", CONFIG, ["-C", "nowhere"]],
    ["a gate that does not exist", "remand.yaml", CONFIG, ["--only", "chekcs"]],
  ])("%s exits 1, says why, and blocks no agent", async (_what, file, text, args) => {
    write(file, text);
    const ran = await stop({}, args);
    expect(ran.exit).toBe(1);
    expect(ran.out).toBe("");
    expect(ran.err).not.toBe("");
  });

  it.each([["--bogus", "hook", "stop"], ["hook"], ["hook", "stpo"]])(
    "%s %s %s exits 1, and never 2",
    async (...argv) => {
      const words = argv.filter((word) => word !== undefined);
      expect(await run(words, [hook], { stdin: () => Promise.resolve("{}") })).toMatchObject({ exit: 1, out: "" });
    },
  );

  it.each(["", "no JSON", "[]", "null"])("input that is no document of a hook (%j) exits 1", async (text) => {
    expect(await stop(text)).toMatchObject({ exit: 1, out: "" });
  });

  it("an unreadable record does not block an agent", async () => {
    write("add.cjs", "exports.add = (a, b) => a - b;\n");
    await stop();
    const [name] = readdirSync(join(root, ".remand", "hooks"));
    write(join(".remand", "hooks", name!), '{"schema":"remand.hook/1","lines":[{"v":1}]}');
    const ran = await stop({ stop_hook_active: true });
    expect(ran).toMatchObject({ exit: 1, out: "" });
    expect(ran.err).toContain("Delete the file");
  });

  it("prints nothing without a project, for other events, and for an agent that a run started", async () => {
    expect(await stop({ hook_event_name: "SubagentStop" })).toMatchObject({ exit: 0, out: "{}\n" });
    expect(await stop({}, [], { REMAND_COOKIE: "c" })).toMatchObject({ exit: 0, out: "{}\n" });
    rmSync(join(root, "remand.yaml"));
    expect(await stop()).toMatchObject({ exit: 0, out: "{}\n" });
  });

  it("status lists conversations that did not pass, and its exit code says so", async () => {
    const status = (...args: string[]): Promise<Ran> =>
      run(["hook", "status", ...args], [hook], { cwd: root, files: createNodeFiles() });
    expect(await status()).toMatchObject({ exit: 0, out: "No conversation has asked whether it may stop.\n" });
    write("add.cjs", "exports.add = (a, b) => a - b;\n");
    await stop();
    const held = await status();
    expect(held.exit).toBe(3);
    expect(held.out).toContain("s-1  sent back, not passed since (held back 1 time)");
    expect(JSON.parse((await status("--json")).out)).toMatchObject({
      sessions: [{ session: "s-1", standing: "held" }],
    });
  });
});
