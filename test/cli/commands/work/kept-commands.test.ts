import { describe, expect, it } from "vitest";
import { command as brief } from "../../../../src/cli/commands/work/brief.ts";
import { command as diff } from "../../../../src/cli/commands/read/diff.ts";
import { command as trail } from "../../../../src/cli/commands/read/trail.ts";
import { command as stop } from "../../../../src/cli/commands/work/stop.ts";
import type { Event } from "../../../../src/core/events/event.ts";
import { evidenceId, storyId } from "../../../../src/core/events/ids.ts";
import { reworkLogSchema } from "../../../../src/core/schemas/report.ts";
import { world as scripted, type Script } from "../../../seeds/scripted-run.ts";
import { outcomesOf, story } from "../../../kit/story-world.ts";
import { fakeHost, type FakeHost } from "../../../kit/fake-host.ts";
import { on } from "../../../kit/fake-environment.ts";
import { hostAfterRun } from "../../../kit/finished-run.ts";
import { memoryFiles } from "../../../kit/memory-files.ts";

/** Gives each brief its own evidence, named after the story and the failure. */
function withBriefs(inner: Script): Script {
  const last = new Map<string, string>();
  const named = (events: readonly Event[], id: string): Event[] =>
    events.map((event) => ("brief" in event ? { ...event, brief: evidenceId(id) } : event));
  return (command, state, whole) => {
    const events = inner(command, state, whole) ?? outcomesOf(command, state)[0]!.events;
    if (command.type === "send-back") {
      last.set(command.story, `brief-${command.story}-${command.failure}`);
      return named(events, last.get(command.story)!);
    }
    return command.type === "start-attempt" && command.reworkOf !== null
      ? named(events, last.get(command.story)!)
      : events;
  };
}

async function reworkedTwice(): Promise<FakeHost> {
  const host = await hostAfterRun(
    [story("login"), story("plain")],
    withBriefs(scripted({ gates: { checks: ["fail", "fail"] }, story: "login" })),
  );
  return host;
}

describe("remand brief <story>", () => {
  const evidence = (host: FakeHost): FakeHost => ({
    ...host,
    openView: async (root) => {
      const look = await host.openView(root);
      if (look === null) return null;
      const read = (id: string) => Promise.resolve(id === "brief-login-2" ? null : `the text of ${id}`);
      return { ...look, evidence: { ...look.evidence, read } };
    },
  });

  it("prints the brief of an attempt, by default the newest", async () => {
    const host = evidence(await hostAfterRun([story("login")], withBriefs(scripted({ gates: { checks: ["fail"] } }))));
    expect(await on(host, brief, ["login"])).toMatchObject({ exit: 0, out: "the text of brief-login-1\n" });
    expect(await on(host, brief, ["login", "--attempt", "2"])).toMatchObject({
      exit: 0,
      out: "the text of brief-login-1\n",
    });
    expect(JSON.parse((await on(host, brief, ["login", "--json"])).out)).toMatchObject({
      schema: "remand.brief-text/1",
      story: "login",
      attempt: 2,
      text: "the text of brief-login-1",
    });
  });

  it("lists the attempts with a brief, and reports that its text is gone", async () => {
    const host = evidence(await reworkedTwice());
    expect(await on(host, brief, ["login", "--attempt", "1"])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("Attempts with a brief: 2, 3."),
    });
    expect(await on(host, brief, ["login", "--attempt", "3"])).toMatchObject({
      exit: 1,
      err: expect.stringContaining("no longer kept"),
    });
    expect(await on(host, brief, ["plain"])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("no work of plain was sent back"),
    });
    expect(await on(host, brief, ["login", "--next"])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("no work of login is being sent back"),
    });
    expect(await on(host, brief, ["login", "--from", "x"])).toMatchObject({ exit: 2 });
    expect(await on(host, brief, ["login", "--next", "--attempt", "1"])).toMatchObject({ exit: 2 });
    expect(await on(host, brief, ["login", "--attempt", "x"])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("--attempt x is not a number"),
    });
  });

  it("prints the brief that waits for the next attempt", async () => {
    const stopped = await hostAfterRun(
      [story("login")],
      withBriefs((command, state, whole) => {
        if (command.type === "start-attempt" && command.reworkOf !== null) return [{ type: "story.held", by: "ada" }];
        return scripted({ gates: { checks: ["fail"] } })(command, state, whole);
      }),
    );
    expect(await on(evidence(stopped), brief, ["login", "--next"])).toMatchObject({
      exit: 0,
      out: "the text of brief-login-1\n",
    });
    expect(await on(evidence(stopped), brief, ["login"])).toMatchObject({
      exit: 0,
      out: "the text of brief-login-1\n",
    });
  });
});

describe("remand diff", () => {
  it("compares the base with the newest commit, one attempt with its predecessor, or everything after an attempt", async () => {
    const host = await reworkedTwice();
    const commits = (await host.lines()).flatMap(({ event, story }) =>
      story === "login" && event.type === "attempt.finished" ? [event.commit] : [],
    );
    expect(commits).toHaveLength(3);
    const printed = async (...args: string[]) => (await on(host, diff, ["login", ...args])).out;
    expect(await printed()).toBe(`diff of login from c0 to ${commits[2]}\n`);
    expect(await printed("--attempt", "1")).toBe(`diff of login from c0 to ${commits[0]}\n`);
    expect(await printed("--attempt", "2")).toBe(`diff of login from ${commits[0]} to ${commits[1]}\n`);
    expect(await printed("--since", "1")).toBe(`diff of login from ${commits[0]} to ${commits[2]}\n`);
    expect(await printed("--since", "1", "--attempt", "2")).toBe(`diff of login from ${commits[0]} to ${commits[1]}\n`);
    expect(JSON.parse(await printed("--json"))).toMatchObject({
      schema: "remand.diff/1",
      story: "login",
      from: "c0",
      files: [],
    });
  });

  it("reports missing attempts", async () => {
    const host = await reworkedTwice();
    await host.write(storyId("new"), { type: "story.added", story: story("new") });
    expect(await on(host, diff, ["login", "--attempt", "7"])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("It has 1, 2, 3."),
    });
    expect(await on(host, diff, ["new"])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("no work was done on new yet"),
    });
  });
});

describe("remand trail", () => {
  const SAME = { result: "fail", failure: "same", blocking: 1 } as const;
  const FOLDER = "/work/.remand/audit-trail";

  it("writes S1's logs, escalations, failed tasks, locations and metrics, with the same bytes each time", async () => {
    const host = await hostAfterRun([story("login")], scripted({ gates: { checks: [SAME, SAME, SAME] } }));
    const texts: Record<string, string> = {};
    const files = memoryFiles(texts);
    expect(await on(host, trail, [], { files })).toMatchObject({
      exit: 3,
      out: expect.stringContaining("missing  failed-tasks.json"),
    });
    const first = await on(host, trail, ["--rebuild"], { files });
    expect(first).toMatchObject({ exit: 0, out: expect.stringContaining("written  slices/login/rework-log.json") });
    const log = JSON.parse((await files.read(`${FOLDER}/slices/login/rework-log.json`))!) as unknown;
    expect(reworkLogSchema.safeParse(log).success).toBe(true);
    expect(log).toMatchObject({
      rework_entries: [{ attempt: 1, outcome: expect.stringContaining("Not fixed") }, { attempt: 2 }],
    });
    const again = await on(host, trail, ["--rebuild"], { files });
    expect(again.out).not.toContain("written");
    expect(again.out).toMatch(
      /^STATE {2}FILE\nright {2}slices\/login\/rework-log\.json\nright {2}escalations\/2026-02-22T14-30-\d\dZ-esc-login-1\.json\n/,
    );
    expect(await on(host, trail, [], { files })).toMatchObject({ exit: 0 });
  });

  it("sees a changed file", async () => {
    const host = await hostAfterRun([story("login")]);
    const files = memoryFiles({});
    await on(host, trail, ["--rebuild"], { files });
    const before = await files.read(`${FOLDER}/metrics/daily-summary.json`);
    await files.write(`${FOLDER}/metrics/daily-summary.json`, "{}");
    const ran = await on(host, trail, ["--json"], { files });
    expect(ran.exit).toBe(3);
    expect(JSON.parse(ran.out)).toMatchObject({
      schema: "remand.trail/1",
      folder: FOLDER,
      files: expect.arrayContaining([{ path: "metrics/daily-summary.json", state: "stale" }]),
    });
    expect(await on(host, trail, ["--rebuild"], { files })).toMatchObject({ exit: 0 });
    expect(await files.read(`${FOLDER}/metrics/daily-summary.json`)).toBe(before);
  });

  it("is written to the configured folder", async () => {
    const host = await hostAfterRun([story("login")]);
    await on(host, stop, []);
    const files = memoryFiles({ "/work/remand.yaml": "trail: .factory/audit-trail\n", "/work/bad.yaml": "trial: x\n" });
    await on(host, trail, ["--rebuild"], { files });
    expect(await files.read("/work/.factory/audit-trail/failed-tasks.json")).toBe("[]\n");
    expect(await on(host, trail, ["--config", "bad.yaml"], { files })).toMatchObject({ exit: 2 });
    expect(await on(fakeHost(), trail, [], { files })).toMatchObject({ exit: 2 });
  });
});
