import { describe, expect, it } from "vitest";
import { command } from "../../../../src/cli/commands/work/run.ts";
import { storyId } from "../../../../src/core/events/ids.ts";
import type { Interrupt } from "../../../../src/app/command.ts";
import type { ProgramEnvironment } from "../../../../src/cli/program.ts";
import { world as scripted } from "../../../seeds/scripted-run.ts";
import { answer } from "../../../kit/story-world.ts";
import { fakeHost, type FakeHost } from "../../../kit/fake-host.ts";
import { run, type Ran } from "../../../kit/fake-environment.ts";
import { memoryFiles } from "../../../kit/memory-files.ts";

const CONFIG = "preset: goal\ngates:\n  checks:\n    commands: [npm test]\n    blame: false\n";
const LOGIN = "---\ntitle: People can log in\npriority: 1\n---\nDo it.\n\n## Acceptance criteria\n\n- [ ] it works\n";
const FILES = {
  "/work/remand.yaml": CONFIG,
  "/work/stories/login.md": LOGIN,
  "/work/stories/cart.md": "---\npriority: 2\ndepends_on: [login]\n---\nA cart.\n",
  "/work/stories/later.md": "---\nstatus: backlog\n---\nLater.\n",
};

async function remandRun(
  host: FakeHost,
  args: readonly string[] = [],
  changes: Partial<ProgramEnvironment> = {},
  files: Readonly<Record<string, string>> = FILES,
): Promise<Ran> {
  return run(["run", ...args], [command], { files: memoryFiles(files), host, env: { USER: "ada" }, ...changes });
}

const failsOnce = () => scripted({ gates: { checks: ["fail"] }, attemptCostUsd: 0.41, story: "login" });

describe("remand run", () => {
  it("prints each attempt, what was sent back, and the totals; exits with 0 if everything is accepted", async () => {
    const ran = await remandRun(fakeHost({ script: failsOnce() }));
    expect(ran.out).toBe(
      [
        "▶ login  implement  attempt 1  developer works",
        "✖ login  implement  attempt 1  $0.41   integrity ✔  checks ✖ 19 findings",
        "    src/f0.ts:1 checks 1 0x",
        "    src/f1.ts:1 checks 1 1x",
        "    src/f2.ts:1 checks 1 2x",
        "    and 16 more",
        "↩ login  rework 1 (failure 1)  the checks gate failed → developer",
        "▶ login  implement  attempt 2  developer works, rework after checks",
        "✔ login  implement  attempt 2  $0.41   integrity ✔  checks ✔   accepted",
        "▶ cart   implement  attempt 1  developer works",
        "✔ cart   implement  attempt 1  $0.00   integrity ✔  checks ✔   accepted",
        "2 stories · 2 accepted · $0.82",
        "",
      ].join("\n"),
    );
    expect(ran.exit).toBe(0);
    expect(ran.err).toBe("");
  });

  it("prints the location of a mistyped key in a story, as a document under --json", async () => {
    const files = { ...FILES, "/work/stories/cart.md": "---\ndepends-on: [login]\n---\nA cart.\n" };
    const [text, json] = [
      await remandRun(fakeHost(), [], {}, files),
      await remandRun(fakeHost(), ["--json"], {}, files),
    ];
    expect(text).toMatchObject({ exit: 2, out: "", err: expect.stringMatching(/^stories\/cart.md:2:1: error: /) });
    expect(json.err).toBe(text.err);
    expect(JSON.parse(json.out)).toMatchObject({
      schema: "remand.error/1",
      error: {
        code: "input-invalid",
        message: 'stories/cart.md:2:1: unknown key "depends-on"',
        hint: 'did you mean "depends_on"?',
      },
      exit: 2,
      problems: [{ file: "stories/cart.md", line: 2, column: 1, severity: "error" }],
    });
  });

  it("passes the stories in order to the host, with worktrees", async () => {
    const host = fakeHost();
    await remandRun(host, ["cart"]);
    expect(host.plans[0]).toMatchObject({ place: "worktrees", agentCommand: null, policy: { preset: "goal" } });
    expect(host.plans[0]!.stories.map(({ id }) => id)).toEqual(["login", "cart"]);
  });

  it("suggests a name for an unknown story", async () => {
    const ran = await remandRun(fakeHost(), ["lgoin"]);
    expect(ran).toMatchObject({ exit: 2, err: "remand: there is no story lgoin\n  Did you mean login?\n" });
  });

  it.each([
    ["config", { ...FILES, "/work/remand.yaml": "preset: gaol\n" }, "remand.yaml:1:9: error:"],
    ["story file", { ...FILES, "/work/stories/login.md": "---\nid: [\n---\n" }, "stories/login.md:"],
  ])("shows the error in a %s with its location, and exits with 2", async (_what, files, where) => {
    const host = fakeHost();
    const ran = await remandRun(host, [], {}, files);
    expect(ran.exit).toBe(2);
    expect(ran.err).toContain(where);
    expect(ran.err).toContain("^");
    expect(host.plans).toEqual([]);
  });

  it("exits with 4 and says where to look when a person must act", async () => {
    const same = { result: "fail", failure: "same", blocking: 1 } as const;
    const host = fakeHost({ script: scripted({ gates: { checks: [same, same, same, same] }, story: "login" }) });
    const ran = await remandRun(host);
    expect(ran.exit).toBe(4);
    expect(ran.out).toContain("! login  needs you: the same failure again and again   remand answer esc-login-1 …\n");
    expect(ran.out).toContain("2 stories · 1 waiting · 1 needs you");
    expect(ran.err).toContain("remand inbox");
  });

  it("exits with 5 when the cost budget is used up", async () => {
    const script = scripted({ gates: { checks: ["fail", "fail"] }, attemptCostUsd: 6, story: "login" });
    const ran = await remandRun(fakeHost({ script }), ["login"]);
    expect(ran.out).toContain("needs you: the cost budget is used up");
    expect(ran.exit).toBe(5);
  });

  it("exits with 3 when the work was abandoned", async () => {
    const files = { ...FILES, "/work/remand.yaml": `${CONFIG}onExhausted: error\nlimits: { iterations: 1 }\n` };
    const ran = await remandRun(
      fakeHost({ script: scripted({ gates: { checks: ["fail", "fail"] } }) }),
      ["login"],
      {},
      files,
    );
    expect(ran.out).toContain("✖ login  failed: People can log in: the iterations budget is used up");
    expect(ran.exit).toBe(3);
  });

  it("stops cleanly at the first Ctrl-C and continues on the next run", async () => {
    let interrupt: ((signal: Interrupt) => void) | null = null;
    const onInterrupt: ProgramEnvironment["onInterrupt"] = (handler) => {
      interrupt = handler;
      return () => (interrupt = null);
    };
    let stopAt = 3;
    const host = fakeHost({ onStep: (step) => step === stopAt && interrupt?.("SIGINT") });
    const ran = await remandRun(host, [], { onInterrupt });
    expect(ran.exit).toBe(130);
    expect(ran.err).toContain("remand: stopping;");
    expect(ran.out).toContain("2 stories · 2 waiting");
    expect(interrupt).toBeNull();
    stopAt = -1;
    expect(await remandRun(host, [], { onInterrupt })).toMatchObject({ exit: 0 });
  });

  it("names the process that already runs here", async () => {
    const ran = await remandRun(fakeHost({ lockedBy: "process 7 on this machine" }));
    expect(ran).toMatchObject({ exit: 1, out: "" });
    expect(ran.err).toContain("process 7 on this machine");
  });

  it("leaves paused stories paused, lists them, and resumes named ones", async () => {
    const host = fakeHost();
    await host.write(null, { type: "policy.set", policy: (await policyOf(host))!, by: "test" });
    await host.write(storyId("login"), { type: "story.held", by: "eve" });
    await host.write(null, answer("halt"));
    const plain = await remandRun(host);
    expect(plain.exit).toBe(4);
    expect(plain.err).toContain("remand: 1 story stays paused: login. Resume it: remand resume login\n");
    const events = async () => (await host.lines()).map(({ event }) => event);
    expect(await events()).not.toContainEqual(expect.objectContaining({ type: "story.released" }));
    expect(await events()).toContainEqual({ type: "run.resumed", by: "ada" });

    const named = await remandRun(host, ["login"]);
    expect(named.err).not.toContain("paused");
    expect(await events()).toContainEqual({ type: "story.released", by: "ada" });
    expect(named.exit).toBe(0);
  });

  it("writes the trail", async () => {
    const files = memoryFiles(FILES);
    await remandRun(fakeHost({ script: failsOnce() }), [], { files });
    const log = JSON.parse((await files.read("/work/.remand/audit-trail/slices/login/rework-log.json"))!) as object;
    expect(log).toMatchObject({
      slice_id: "login",
      rework_entries: [
        {
          gate: "checks",
          attempt: 1,
          action_taken: "Routed to developer with failed checks",
          outcome: "Fixed -- attempt 2, re-checks passed",
        },
      ],
    });
  });

  it("prints the plan and starts nothing", async () => {
    const host = fakeHost();
    const ran = await remandRun(host, ["--dry-run"]);
    expect(ran.exit).toBe(0);
    expect(ran.out).toContain("preset goal, autonomy standard, 3 stories\n");
    expect(ran.out).toContain(
      "  1. login  p1  new\n  2. cart   p2  new, after login\n  3. later  p100  backlog: not started",
    );
    expect(ran.out).toContain("  implement by developer, judged by integrity, checks\n    checks: npm test\n");
    expect(ran.out).toContain("  each story: $10.00, 2 h\n");
    expect(host.plans).toEqual([]);
    const { out } = await remandRun(host, ["--dry-run", "--json"]);
    expect(JSON.parse(out)).toMatchObject({
      schema: "remand.plan/1",
      order: [{ id: "login" }, { id: "cart" }, { id: "later" }],
    });
  });

  it("prints one document under --json", async () => {
    const { out, exit } = await remandRun(fakeHost({ script: failsOnce() }), ["--json"]);
    expect(JSON.parse(out)).toMatchObject({
      schema: "remand.run/1",
      exit,
      counts: { stories: 2, accepted: 2 },
      stories: [
        { id: "login", status: "accepted", attempts: 2 },
        { id: "cart", status: "accepted" },
      ],
    });
  });

  it("refuses an unknown reporter", async () => {
    expect(await remandRun(fakeHost(), ["--reporter", "tap"])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('no reporter "tap"'),
    });
  });

  it.each([
    [{}, "there is no story in stories"],
    [
      { "/work/stories/a.md": "---\nstatus: backlog\n---\nA\n" },
      "no story in stories is ready: 1 story is in the backlog",
    ],
  ])("does not report success if nothing can run: %j", async (stories, words) => {
    const ran = await remandRun(fakeHost(), [], {}, { "/work/remand.yaml": CONFIG, ...stories });
    expect(ran).toMatchObject({ exit: 2, out: "" });
    expect(ran.err).toContain(words);
  });
});

/** The policy that a run would set, without a run. */
async function policyOf(host: FakeHost) {
  const other = fakeHost();
  await remandRun(other, ["login"]);
  const [first, ...rest] = await other.lines();
  const added = rest.find(({ event }) => event.type === "story.added")!;
  await host.write(added.story, added.event);
  return first!.event.type === "policy.set" ? first!.event.policy : null;
}

describe("remand run --watch", () => {
  it("keeps running, picks up stories and answers, and ends on a signal", async () => {
    const same = { result: "fail", failure: "same", blocking: 1 } as const;
    const host = fakeHost({ script: scripted({ gates: { checks: [same, same, same, same] }, story: "new" }) });
    const files = memoryFiles({ "/work/remand.yaml": CONFIG });
    let interrupt: (signal: Interrupt) => void = () => undefined;
    const err: string[] = [];
    let idle = 0;
    const steps: readonly (() => Promise<void>)[] = [
      async () => {
        await files.write("/work/stories/new.md", LOGIN);
        host.changeFiles();
      },
      async () => {
        await files.write("/work/stories/broken.md", "---\nstatus: raedy\n---\n");
        host.changeFiles();
        host.changeFiles();
        await host.appendEvents("/work", storyId("new"), [answer("resolve")]);
      },
      async () => interrupt("SIGTERM"),
    ];
    const ran = await remandRun(host, ["--watch"], {
      files,
      onInterrupt: (handler) => {
        interrupt = handler;
        return () => undefined;
      },
      err: (text) => {
        err.push(text);
        if (text.includes("watching stories")) void steps[idle++]?.();
      },
    });
    expect(ran.exit).toBe(143);
    expect(err.filter((text) => text.includes("watching"))).toEqual([
      "remand: watching stories and your answers (Ctrl-C ends)\n",
      "remand: 1 question waits for you: remand inbox; watching stories and your answers (Ctrl-C ends)\n",
      "remand: watching stories and your answers (Ctrl-C ends)\n",
    ]);
    expect(err.filter((text) => text.includes("raedy"))).toHaveLength(1);
    expect(ran.out).toContain("! new needs you");
    expect(ran.out).toContain("✔ new implement");
    expect(ran.out).toContain("1 story · 1 accepted");
    expect(host.plans).toHaveLength(1);
  });
});
