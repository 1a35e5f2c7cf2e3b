import { describe, expect, it, onTestFinished, vi } from "vitest";
import { command } from "../../../../src/cli/commands/work/loop.ts";
import type { ProgramEnvironment } from "../../../../src/cli/program.ts";
import { entries } from "../../../../src/stdx/sorted-map.ts";
import { world as scripted } from "../../../seeds/scripted-run.ts";
import { storyId } from "../../../../src/core/events/ids.ts";
import { answer } from "../../../kit/story-world.ts";
import { fakeHost, type FakeHost } from "../../../kit/fake-host.ts";
import { run, type Ran } from "../../../kit/fake-environment.ts";
import { memoryFiles } from "../../../kit/memory-files.ts";

const GOAL = ["--goal", "accept tabs", "--check", "npm test"];
const AGENT = ["--", "./agent.sh", "--fast"];

async function loop(host: FakeHost, args: readonly string[], changes: Partial<ProgramEnvironment> = {}): Promise<Ran> {
  return run(["loop", ...args], [command], { host, env: { USER: "ada" }, ...changes });
}

const ids = (host: FakeHost): string[] => [...entries(host.state().stories)].map(([id]) => id);

describe("remand loop", () => {
  it("runs the agent in place on the goal, with the check, until it passes", async () => {
    const host = fakeHost({ script: scripted({ gates: { checks: ["fail"] } }) });
    const ran = await loop(host, [...GOAL, ...AGENT]);
    expect(ran.exit).toBe(0);
    expect(ran.out).toContain("rework 1 (failure 1)");
    expect(ran.out).toContain("accepted");
    const [plan] = host.plans;
    expect(plan).toMatchObject({
      place: "in-place",
      agentCommand: ["./agent.sh", "--fast"],
      policy: { preset: "goal" },
    });
    expect(plan!.config.gates.checks).toMatchObject({
      commands: ["npm test"],
      blame: true,
      onUnexplained: "send-back",
    });
    expect(plan!.stories).toMatchObject([
      { title: "accept tabs", body: "accept tabs", criteria: [{ text: "`npm test` passes" }] },
    ]);
    expect(plan!.stories[0]!.id).toMatch(/^loop-[0-9a-f]{8}$/);
    expect(ran.err).toContain(`remand diff ${plan!.stories[0]!.id}`);
  });

  it("prints that the checks are running on the base, and for how long", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const host = fakeHost({ green: true });
    const { preflight } = host;
    const slow = (...args: Parameters<typeof preflight>): ReturnType<typeof preflight> =>
      vi.advanceTimersByTimeAsync(70_000).then(() => preflight(...args));
    const ran = await loop({ ...host, preflight: slow }, ["--check", "npm test", ...AGENT]);
    expect(ran.exit).toBe(0);
    expect(ran.err.match(/Running the checks once on the base \(\d+ s so far\)/g)).toEqual(
      [3, 10, 30, 60].map((seconds) => `Running the checks once on the base (${seconds} s so far)`),
    );
    expect((await loop(fakeHost({ green: true }), ["--check", "npm test", ...AGENT])).err).not.toContain("so far");
  });

  it("prints how to undo the work in the checkout, or how to merge it from a worktree", async () => {
    const inPlace = await loop(fakeHost(), [...GOAL, ...AGENT]);
    expect(inPlace.err).toContain("to take it back: remand loop --undo");
    const apart = await loop(fakeHost(), [...GOAL, "--worktree", ...AGENT]);
    expect(apart.err).toMatch(/to take it over: git merge remand\/loop-[0-9a-f]{8}\n/);
    expect(apart.err).not.toContain("--undo");
  });

  it("accepts any check, and the typed limits", async () => {
    const check = `node -e 'process.exit("a: b" === "[")' # {x}`;
    const host = fakeHost();
    await loop(host, [
      "--goal",
      "x",
      "--check",
      check,
      "--max-iterations",
      "4",
      "--cost",
      "2.5",
      "--time",
      "30m",
      "--worktree",
      ...AGENT,
    ]);
    const [plan] = host.plans;
    expect(plan!.config.gates.checks.commands).toEqual([check]);
    expect(plan!.policy.limits).toMatchObject({ iterations: 4, story: { costUsd: 2.5, timeMs: 1_800_000 } });
    expect(plan!.place).toBe("worktrees");
  });

  it("reads the goal from a file", async () => {
    const host = fakeHost();
    const files = memoryFiles({ "/work/task.md": "# Tabs\n\nAccept them.\n" });
    await loop(host, ["--goal", "@task.md", "--check", "true", ...AGENT], { files });
    expect(host.plans[0]!.stories[0]).toMatchObject({ title: "Tabs", body: "# Tabs\n\nAccept them.\n" });
    expect(await loop(host, ["--goal", "@none.md", "--check", "true", ...AGENT], { files })).toMatchObject({ exit: 2 });
  });

  it("reports that the loop was accepted before, and starts over only if requested", async () => {
    const host = fakeHost();
    await loop(host, [...GOAL, ...AGENT]);
    const again = await loop(host, [...GOAL, ...AGENT], { now: () => Date.UTC(2026, 1, 22, 15) });
    expect(again.exit).toBe(0);
    expect(again.out).toMatch(/^loop-[0-9a-f]{8} was accepted \d+ m.* ago, after 1 attempt; --new starts over\n$/);
    expect(host.plans).toHaveLength(1);
    expect(await loop(host, [...GOAL, "--new", ...AGENT])).toMatchObject({ exit: 0 });
    await loop(host, [...GOAL, "--new", ...AGENT]);
    const [first] = ids(host);
    expect(ids(host)).toEqual([first, `${first}-2`, `${first}-3`]);
    // Without --new, the newest accepted loop counts.
    expect((await loop(host, [...GOAL, ...AGENT])).out).toContain(`${first}-3 was accepted`);
  });

  it("continues an unfinished loop, and says so", async () => {
    const stop = { now: true };
    const host = fakeHost({
      onStep: (step) => {
        if (stop.now && step === 3) throw new Error("the power went");
      },
    });
    expect(await loop(host, [...GOAL, ...AGENT])).toMatchObject({ exit: 1 });
    stop.now = false;
    const ran = await loop(host, [...GOAL, ...AGENT]);
    expect(ran.exit).toBe(0);
    expect(ran.err).toMatch(/continuing loop-[0-9a-f]{8} after \d attempts?/);
    expect(ids(host)).toHaveLength(1);
  });

  it("exits with 4 at a stall and says where to look, and with 3 after a person has abandoned it", async () => {
    const same = { result: "fail", failure: "same", blocking: 1 } as const;
    const host = fakeHost({ script: scripted({ gates: { checks: [same, same, same, same] } }) });
    const ran = await loop(host, [...GOAL, ...AGENT]);
    const id = ids(host)[0]!;
    expect(ran).toMatchObject({ exit: 4, err: expect.stringContaining(`remand show ${id}`) });
    await host.write(storyId(id), answer("abandon"));
    const over = await loop(host, [...GOAL, ...AGENT]);
    expect(over.exit).toBe(3);
    expect(over.out).toContain(`${id} ended 0 ms ago as abandoned: Ada: because; --new starts over`);
    expect(host.plans).toHaveLength(1);
  });

  it("undoes the last loop, or the named one", async () => {
    const host = fakeHost();
    await loop(host, [...GOAL, ...AGENT]);
    const first = ids(host)[0]!;
    await loop(host, ["--goal", "another", "--check", "true", ...AGENT]);
    const second = ids(host).find((id) => id !== first)!;
    const { out, err } = await loop(host, ["--undo"]);
    expect(out).toContain(`as they were before ${second}`);
    expect(err).toContain("the submodule vendor/lib is left as it is, and has changes: git -C vendor/lib status");
    expect(await loop(host, ["--undo", ...GOAL])).toMatchObject({ exit: 0 });
    expect(host.undone).toEqual([second, first]);
    expect(host.plans.at(-1)!.stories).toEqual([]);
    expect(await loop(fakeHost(), ["--undo"])).toMatchObject({ exit: 2, err: expect.stringContaining("no loop here") });
  });

  it("starts over after the accepted loop was undone", async () => {
    const host = fakeHost();
    await loop(host, [...GOAL, ...AGENT]);
    const first = ids(host)[0]!;
    await loop(host, ["--undo"]);
    expect((await host.lines()).at(-1)).toMatchObject({ story: first, event: { type: "tree.restored", commit: "c0" } });
    const again = await loop(host, [...GOAL, ...AGENT]);
    expect(again).toMatchObject({
      exit: 0,
      err: expect.stringContaining(`${first} was accepted and then undone: starting over`),
    });
    expect(ids(host)).toEqual([first, `${first}-2`]);
    expect((await loop(host, [...GOAL, ...AGENT])).out).toContain(`${first}-2 was accepted`);
  });

  it("without a goal ends at once if the check already passes, and says so", async () => {
    const host = fakeHost({ green: true });
    const ran = await loop(host, ["--check", "npm test", ...AGENT]);
    expect(ran).toMatchObject({ exit: 0, out: expect.stringContaining("the check passes already") });
    expect(host.plans).toEqual([]);
  });

  it("with a goal starts no agent if the check already passes, unless a person confirms", async () => {
    const host = fakeHost({ green: true });
    const argv = ["--goal", "more", "--check", "npm test"];
    expect(await loop(host, [...argv, ...AGENT])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("the check passes already (checks: as the test says), so it cannot show"),
    });
    const asked: string[] = [];
    const answering = (word: string) => ({ ask: (text: string) => (asked.push(text), Promise.resolve(word)) });
    expect(await loop(host, [...argv, ...AGENT], answering("n"))).toMatchObject({ exit: 2 });
    expect(host.plans).toEqual([]);
    await loop(host, [...argv, ...AGENT], answering("y"));
    expect(asked).toHaveLength(2);
    expect(host.plans).toHaveLength(1);
    await loop(host, ["--goal", "others", "--check", "npm test", "--force", ...AGENT]);
    expect(host.plans).toHaveLength(2);
  });

  it("starts no agent if the check cannot run, and lists every problem with its fix", async () => {
    const unusable = ["a", "b"].map((name) => ({
      name: `check \`${name}\``,
      ok: false,
      detail: `there is no program ${name}`,
      fix: `Install ${name}.`,
    }));
    const host = fakeHost({ unusable });
    const ran = await loop(host, [...GOAL, ...AGENT]);
    expect(ran.exit).toBe(2);
    for (const { detail, fix } of unusable) {
      expect(ran.err).toContain(detail);
      expect(ran.err).toContain(fix);
    }
    expect(host.plans).toEqual([]);
    expect(await loop(host, [...GOAL, "--force", ...AGENT])).toMatchObject({ exit: 0 });
  });

  it("without a goal runs the agent if the check fails", async () => {
    const host = fakeHost();
    const ran = await loop(host, ["--check", "npm test", ...AGENT]);
    expect(ran.exit).toBe(0);
    expect(host.plans[0]!.stories[0]!.body).toBe("Make this command pass: npm test");
  });

  it("uses an agent of the project's config by role, with its role file and variables", async () => {
    const host = fakeHost();
    const files = memoryFiles({
      "/work/remand.yaml":
        "version: 1\nenv: [API_KEY]\nagents: { fixer: { use: command, command: 'sh -c \"fix: it\"', model: big }, idle: { fallback: fixer } }\n",
      "/work/.claude/agents/fixer.md": "---\nname: fixer\n---\nFix it.\n",
    });
    const argv = ["loop", ...GOAL, "--agent"];
    expect(await run([...argv, "fixer"], [command], { host, files })).toMatchObject({ exit: 0 });
    expect(host.plans).toMatchObject([
      {
        agentCommand: null,
        config: {
          preset: "goal",
          env: ["API_KEY"],
          agents: {
            developer: {
              use: "command",
              command: 'sh -c "fix: it"',
              model: "big",
              file: ".claude/agents/fixer.md",
            },
          },
        },
      },
    ]);
    expect(await run([...argv, "fixr"], [command], { host, files })).toMatchObject({
      exit: 2,
      err: expect.stringContaining("Did you mean fixer?"),
    });
    expect((await run([...argv, "idle"], [command], { host, files })).err).toContain("there is no agent idle");
    const broken = memoryFiles({ "/work/remand.yaml": "agnets: {}\n" });
    expect((await run([...argv, "fixer"], [command], { host, files: broken })).err).toContain("the config is wrong");
  });

  it("accepts an agent's name, or the configured agent, instead of a command", async () => {
    const host = fakeHost();
    await loop(host, [...GOAL, "--agent", "claude", "--set", "agents.developer.model=opus"]);
    await loop(host, [...GOAL, "--new", "--set", "agents.developer={use: codex}"]);
    expect(host.plans).toMatchObject([
      { agentCommand: null, config: { agents: { developer: { use: "claude", model: "opus" } } } },
      { agentCommand: null, config: { agents: { developer: { use: "codex" } } } },
    ]);
  });

  it.each([
    [["--goal", "x", ...AGENT], "the check is missing"],
    [GOAL, "there is no agent"],
    [["--goal", " ", "--check", "true", ...AGENT], "the goal is empty"],
    [[...GOAL, "--agent", "clod"], "there is no agent clod"],
    [[...GOAL, "--agent", "claude", ...AGENT], "two agents are given"],
    [[...GOAL, "--max-iterations", "0", ...AGENT], "--set:"],
    [[...GOAL, "--time", "forever", ...AGENT], "--set:"],
  ])("%j is wrong usage", async (args, message) => {
    const host = fakeHost();
    const ran = await loop(host, args);
    expect(ran.exit).toBe(2);
    expect(ran.err).toContain(message);
    expect(host.plans).toEqual([]);
  });
});
