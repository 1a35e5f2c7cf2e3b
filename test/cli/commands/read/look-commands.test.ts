import { describe, expect, it } from "vitest";
import { command as inbox } from "../../../../src/cli/commands/read/inbox.ts";
import { command as log } from "../../../../src/cli/commands/read/log.ts";
import { command as report } from "../../../../src/cli/commands/read/report.ts";
import { command as show } from "../../../../src/cli/commands/read/show.ts";
import { command as status } from "../../../../src/cli/commands/read/status.ts";
import { command as verify } from "../../../../src/cli/commands/read/verify.ts";
import type { CliCommand } from "../../../../src/app/command.ts";
import type { ProgramEnvironment } from "../../../../src/cli/program.ts";
import { storyId } from "../../../../src/core/events/ids.ts";
import { world as scripted } from "../../../seeds/scripted-run.ts";
import { answer, story } from "../../../kit/story-world.ts";
import { fakeHost, type FakeHost } from "../../../kit/fake-host.ts";
import { run, type Ran } from "../../../kit/fake-environment.ts";
import { memoryFiles } from "../../../kit/memory-files.ts";
import { hostAfterRun } from "../../../kit/finished-run.ts";

const SAME = { result: "fail", failure: "same", blocking: 1 } as const;
const stuck = () =>
  hostAfterRun(
    [story("login"), story("cart", { dependsOn: [storyId("login")] }), story("done")],
    scripted({ gates: { checks: [SAME, SAME, SAME] }, story: "login", attemptCostUsd: 0.5, attemptMs: 61_000 }),
  );

function on(
  host: FakeHost,
  command: CliCommand,
  args: readonly string[] = [],
  changes: Partial<ProgramEnvironment> = {},
): Promise<Ran> {
  return run([command.name, ...args], [command], { host, ...changes });
}

describe("remand status", () => {
  it("prints one line per story (state, attempts, cost, who must act and why), then the totals", async () => {
    const { out, exit } = await on(await stuck(), status);
    expect(out.split("\n")).toEqual([
      "STORY  STATE        ATTEMPT  SPENT            WHO    WHAT                                         GATES                            QUESTION",
      "login  ! needs you  3/15     $1.50 of $10.00  you    What should change before the next attempt?  integrity ✔  checks ✖ 1 finding  esc-login-1",
      "cart   · waiting    -        -                story  login (needs you)                            -                                -",
      "done   ✔ accepted   1/15     $0.00 of $10.00  -      all gates passed                             integrity ✔  checks ✔            -",
      "3 stories · 1 accepted · 1 waiting · 1 needs you · $1.50",
      "Forecast: about $0.50 for the next attempt of 1 story",
      "Next: remand inbox  (one question waits for you)",
      "",
    ]);
    expect(exit).toBe(4);
  });

  it("lists the named stories, and its exit code is about those only", async () => {
    const host = await stuck();
    expect(await on(host, status, ["done"])).toMatchObject({ exit: 0, out: expect.not.stringContaining("login") });
    expect(await on(host, status, ["nosuch"])).toMatchObject({ exit: 2, out: "" });
  });

  it("gives programs a document", async () => {
    const { out, exit } = await on(await stuck(), status, ["--json", "login"]);
    expect(JSON.parse(out)).toMatchObject({
      schema: "remand.status/1",
      exit: 4,
      stories: [
        { id: "login", status: "escalated", actor: "person", attempts: 3, attemptLimit: 15, escalation: "esc-login-1" },
      ],
    });
    expect(exit).toBe(4);
  });

  it("says so where nothing ran", async () => {
    expect(await on(fakeHost(), status)).toMatchObject({
      exit: 0,
      out: "",
      err: "remand: nothing has run here yet\n  remand run works on the stories; remand doctor checks the set-up first.\n",
    });
    expect(await on(fakeHost(), status, ["login"])).toMatchObject({ exit: 2 });
    expect(JSON.parse((await on(fakeHost(), status, ["--json"])).out)).toEqual({
      schema: "remand.status/1",
      stories: [],
    });
  });

  it("shows how long something has been running", async () => {
    const host = await hostAfterRun([story("a")], undefined);
    await host.write(storyId("b"), { type: "story.added", story: story("b") }, { type: "story.started", by: "engine" });
    const since = (await host.lines()).at(-1)!.at;
    const { out, exit } = await on(host, status, ["b"], { now: () => since + 95_000 });
    expect(out).toContain("engine  prepare, 1 m 35 s");
    expect(exit).toBe(8);
  });
});

describe("remand show", () => {
  it("prints a story's history, and its open question", async () => {
    const { out, exit } = await on(await stuck(), show, ["login"]);
    expect(exit).toBe(0);
    expect(out).toContain("login  Story login\n! needs you: What should change before the next attempt?\n");
    expect(out).toContain("3 attempts · $1.50 of $10.00 · 3 m 3 s · branch remand/login at commit ");
    expect(out).toContain("Criteria\n  AC1  it works\n");
    expect(out).toMatch(/\d {2}▶ attempt 1: implement by developer\n/);
    expect(out).toMatch(
      /\d {2}· attempt 1 is done, 1 file changed, \$0\.50, 1 m 1 s\n {26}attempt 1\n {26}src\/a\.ts\n/,
    );
    expect(out).toMatch(/\d {2}✖ checks: fail, 1 finding in the way; checks says fail\n {26}src\/f0\.ts:1 same 0x\n/);
    expect(out).toContain("↩ sent back from checks to developer (implement): the checks gate failed");
    expect(out).toContain(
      "Gates that ran again, and results that were kept\n  rework 1 of implement, after checks: 1 path changed",
    );
    expect(out).toMatch(/\n {4}integrity {2}ran again: pass, .*; changed: src\/a\.ts\n {4}checks {5}ran again: fail/);
    expect(out).toContain("Gates  integrity ✔  checks ✖ 1 finding");
    expect(out).toContain("Question: What should change before the next attempt?");
    expect(out).toContain('remand answer esc-login-1 send-back --message "…"');
  });

  it("prints the next step of an ended story, and of a waiting one", async () => {
    expect((await on(await stuck(), show, ["done"])).out).toContain("It is over. remand diff done shows the work.");
    const host = await hostAfterRun([story("a")]);
    await host.write(storyId("b"), { type: "story.added", story: story("b") }, { type: "story.started", by: "engine" });
    await host.write(storyId("b"), {
      type: "step.failed",
      step: "prepare",
      detail: "the disk is full",
      infrastructure: false,
    });
    const { out } = await on(host, show, ["b"], { now: () => Date.UTC(2020, 1, 1) });
    expect(out).toMatch(/Next: again at 2026-.*Z, in .* h.* \(the disk is full\)/);
  });

  it("shows a waiver as a waiver, with the person's name", async () => {
    const host = await stuck();
    await host.write(storyId("login"), answer("force-complete", { message: "ship\u001b[2J it" }));
    const { out } = await on(host, show, ["login"]);
    expect(out).toContain("accepted: by Ada: ship it");
    expect(out).toContain("Waived  checks by Ada: ship it");
  });

  it("is included in the report of the run, a single file without scripts", async () => {
    const files = new Map<string, string>();
    const write = async (path: string, text: string): Promise<void> => void files.set(path, text);
    const host = await stuck();
    await host.write(storyId("done"), answer("send-back", { message: "<script>alert(1)</script>" }));
    const more = { files: { ...memoryFiles({}), write } };
    expect(await on(host, report, ["--html", "run.html"], more)).toMatchObject({ exit: 0, out: "run.html\n" });
    const [page = ""] = files.values();
    expect(page).toContain("<dt>need a person</dt><dd>1</dd>");
    expect(page.indexOf('id="login"')).toBeLessThan(page.indexOf('id="done"'));
    expect(page).not.toContain("<script");
    const { out } = await on(host, report, ["login", "--html", "one.html", "--json"], more);
    expect(JSON.parse(out)).toEqual({ schema: "remand.report/1", file: "one.html", stories: 1 });
    expect(await on(host, report, ["logn", "--html", "x.html"], more)).toMatchObject({ exit: 2 });
  });

  it("gives programs a document", async () => {
    const { out } = await on(await stuck(), show, ["login", "--json"]);
    expect(JSON.parse(out)).toMatchObject({
      schema: "remand.show/1",
      row: { id: "login", status: "escalated" },
      branch: "remand/login",
      escalation: { id: "esc-login-1" },
      timeline: expect.arrayContaining([expect.objectContaining({ mark: "person" })]),
      reJudged: [
        { rework: 1, sentBackBy: "checks", gates: [{ gate: "integrity", what: "again", paths: ["src/a.ts"] }, {}] },
        { rework: 2 },
      ],
    });
  });

  it("requires an existing story", async () => {
    expect(await on(await stuck(), show, ["logn"])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("Did you mean login?"),
    });
    expect(await on(fakeHost(), show, ["x"])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("nothing has run here yet"),
    });
  });
});

describe("remand log", () => {
  it("prints every event, or one story's", async () => {
    const host = await stuck();
    const all = (await on(host, log)).out.trimEnd().split("\n");
    expect(all).toHaveLength((await host.lines()).length);
    expect(all[0]).toBe("    1  2026-02-22 14:30:01Z  the run  policy.set  rules of the preset goal, set by test");
    const one = (await on(host, log, ["--story", "done"])).out.trimEnd().split("\n");
    expect(one.every((line) => line.includes("Z  done  "))).toBe(true);
    expect(one.at(-1)).toContain("story.accepted  accepted: all gates passed");
  });

  it("prints the lines for programs, hashes and all", async () => {
    const host = await stuck();
    const lines = (await on(host, log, ["--json"])).out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    const stored = await host.lines();
    expect(lines).toEqual(stored.map((line) => ({ schema: "remand.journal-line/1", ...line })));
  });

  it("follows until Ctrl-C", async () => {
    const host = await stuck();
    const printed: string[] = [];
    let interrupt = (): void => undefined;
    const following = on(host, log, ["--follow", "--story", "login"], {
      out: (text) => printed.push(text),
      onInterrupt: (handler) => {
        interrupt = () => handler("SIGINT");
        return () => undefined;
      },
    });
    await until(() => printed.length > 10);
    await host.write(storyId("login"), { type: "story.held", by: "ada" });
    await until(() => printed.at(-1)!.includes("paused by ada"));
    interrupt();
    expect(await following).toMatchObject({ exit: 0 });
    expect(new Set(printed).size).toBe(printed.length);
  });
});

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo() && tries < 20_000; tries++) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(isSo()).toBe(true);
}

describe("remand verify", () => {
  it("exits with 0 for an intact journal, and with 3 and the line of a damage", async () => {
    const host = await stuck();
    const head = (await host.lines()).at(-1)!;
    expect(await on(host, verify)).toMatchObject({
      exit: 0,
      out: `intact: ${head.position} lines, the last is ${head.hash}\n`,
    });
    expect(JSON.parse((await on(host, verify, ["--json"])).out)).toMatchObject({ schema: "remand.verify/1", ok: true });
    const changed = { ok: false, position: 2, hash: null, problem: "the line was changed" };
    const broken = fakeHost({ verified: changed });
    expect(await on(broken, verify)).toMatchObject({ exit: 3, out: "not intact: line 2: the line was changed\n" });
    expect(JSON.parse((await on(broken, verify, ["--json"])).out)).toEqual({
      schema: "remand.verify/1",
      ok: false,
      position: 2,
      problem: "the line was changed",
    });
  });

  it("never reports a journal as intact if it replaced another", async () => {
    const lost = { id: "a".repeat(32), position: 40, hash: "b".repeat(64), why: "The journal is missing.", kept: null };
    const replaced = { lost, by: "Ada", at: Date.UTC(2026, 1, 22) };
    const host = fakeHost({ verified: { ok: true, position: 3, hash: "c", problem: null, replaced } });
    const { out, exit } = await on(host, verify);
    expect(exit).toBe(0);
    expect(out).not.toContain("intact");
    expect(out).toContain("replaced: 3 lines");
    expect(out).toContain("by Ada: The journal is missing.");
    expect(out).toContain("40 lines");
    expect(JSON.parse((await on(host, verify, ["--json"])).out)).toMatchObject({ ok: true, replaced: { by: "Ada" } });
  });
});

describe("a journal that differs from what the clone remembers", () => {
  it("is shown with a warning", async () => {
    const host = await stuck();
    const odd: FakeHost = {
      ...host,
      journalTrouble: async () => ({ kind: "changed", text: "The journal ends at line 2." }),
    };
    for (const command of [status, log]) {
      const { out, err } = await on(odd, command);
      expect(out).toContain("login");
      expect(err).toContain("warning: The journal ends at line 2. To see more: remand verify");
    }
  });
});

describe("remand inbox", () => {
  it("shows the question, the reason, the recommendation, and each answer's effect and cost", async () => {
    const { out, exit } = await on(await stuck(), inbox);
    expect(exit).toBe(0);
    expect(out).toContain(
      "! esc-login-1  login: the same failure again and again\n  why        the same failure 3 times",
    );
    expect(out).toContain("  question   What should change before the next attempt?\n");
    expect(out).toContain(
      '  remand answer esc-login-1 send-back --message "…"\n      Put your instructions into the next brief; the failure count starts over. Costs: about $0.50 for the attempt.\n',
    );
    expect(out).toContain("remand answer esc-login-1 resolve\n");
  });

  it("puts questions about the whole run first", async () => {
    const host = await stuck();
    const escalation = [...(await host.lines())].flatMap(({ event }) =>
      event.type === "escalation.raised" ? [event.escalation] : [],
    )[0]!;
    await host.write(null, {
      type: "escalation.raised",
      escalation: { ...escalation, id: "esc-project-1" as typeof escalation.id, title: "the whole run: no money" },
    });
    const { out } = await on(host, inbox, ["--json"]);
    expect(JSON.parse(out)).toMatchObject({
      schema: "remand.inbox/1",
      items: [
        { id: "esc-project-1", story: null, reason: "no money" },
        { id: "esc-login-1", story: "login" },
      ],
    });
  });

  it("reports that no question is open", async () => {
    expect(await on(await hostAfterRun([story("a")]), inbox)).toMatchObject({
      exit: 0,
      out: "Nothing waits for you.\n",
    });
    expect(await on(fakeHost(), inbox)).toMatchObject({ exit: 0, out: "Nothing waits for you.\n" });
  });
});
