import { describe, expect, it } from "vitest";
import { command as answer } from "../../../../src/cli/commands/work/answer.ts";
import { command as inbox } from "../../../../src/cli/commands/read/inbox.ts";
import { command as rework } from "../../../../src/cli/commands/work/rework.ts";
import { command as stop, resumeCommand as resume } from "../../../../src/cli/commands/work/stop.ts";
import { storyId } from "../../../../src/core/events/ids.ts";
import { stateOf, world as scripted, type World as ScriptedWorld } from "../../../seeds/scripted-run.ts";
import { story } from "../../../kit/story-world.ts";
import { fakeHost, type FakeHost } from "../../../kit/fake-host.ts";
import { on } from "../../../kit/fake-environment.ts";
import { hostAfterRun } from "../../../kit/finished-run.ts";

const SAME = { result: "fail", failure: "same", blocking: 1 } as const;
const FAIL = "fail" as const;
const TWO = { result: "fail", blocking: 2 } as const;
const stuck = () =>
  hostAfterRun([story("login"), story("done")], scripted({ gates: { checks: [SAME, SAME, SAME] }, story: "login" }));

/** A host after a run with these verdicts of reviewers. */
const reviewed = (says: NonNullable<NonNullable<ScriptedWorld["gates"]>["review"]>): Promise<FakeHost> =>
  hostAfterRun([story("login")], scripted({ gates: { review: says } }), ["preset=critic-audit"]);

const lastEvent = async (host: FakeHost) => (await host.lines()).at(-1)!;

describe("remand answer", () => {
  it("answers an escalation by its id, in the name of the person who typed it", async () => {
    const host = await stuck();
    const ran = await on(host, answer, ["esc-login-1", "send-back", "--message", "look at the clock"]);
    expect(ran).toMatchObject({ exit: 0, err: "" });
    expect(ran.out).toContain("login: ada says send-back.");
    expect(await lastEvent(host)).toMatchObject({
      story: "login",
      event: {
        type: "person.answered",
        answer: { verb: "send-back", by: "ada", message: "look at the clock", escalation: "esc-login-1" },
      },
    });
    expect(stateOf(host.state(), "login").escalation).toBeNull();
  });

  it("answers the open question of a named story", async () => {
    const host = await stuck();
    const ran = await on(host, answer, ["login", "resolve", "--by", "Eve", "--json"]);
    expect(JSON.parse(ran.out)).toMatchObject({
      schema: "remand.answer/1",
      story: "login",
      answer: { by: "Eve", escalation: "esc-login-1" },
    });
  });

  it("undoes the last answer, by its story or by its question", async () => {
    const host = await stuck();
    await on(host, answer, ["login", "abandon", "--message", "not needed"]);
    const ran = await on(host, answer, ["esc-login-1", "--undo"]);
    expect(ran).toMatchObject({
      exit: 0,
      out: "login: ada undid abandon. The story is as it was before the answer.\n",
    });
    expect((await lastEvent(host)).event).toEqual({ type: "answer.undone", by: "ada" });
    expect(stateOf(host.state(), "login")).toMatchObject({ ending: null, escalation: { id: "esc-login-1" } });
    await on(host, answer, ["login", "resolve"]);
    expect(JSON.parse((await on(host, answer, ["login", "--undo", "--json"])).out)).toMatchObject({
      schema: "remand.answer/1",
      undone: { verb: "resolve" },
    });
  });

  it("reports that it is too late, or that there is nothing to undo", async () => {
    const host = await stuck();
    const none = await on(host, answer, ["login", "--undo"]);
    expect(none).toMatchObject({ exit: 2, err: expect.stringContaining("no answer left to undo") });
    await on(host, answer, ["login", "resolve"]);
    await host.write(storyId("login"), { type: "gate.started", gate: "checks", tree: "t" as never, stages: [] });
    const late = await on(host, answer, ["esc-login-1", "--undo"]);
    expect(late).toMatchObject({ exit: 2, err: expect.stringContaining("work on it has begun") });
    expect((await lastEvent(host)).event.type).toBe("gate.started");
    for (const args of [["nobody", "--undo"], ["esc-project-1", "--undo"], ["login", "resolve", "--undo"], ["login"]])
      expect((await on(host, answer, args)).exit, args.join(" ")).toBe(2);
  });

  it("an undo that came after the engine started work is not reported as done", async () => {
    const host = await stuck();
    await on(host, answer, ["login", "resolve"]);
    const quick: FakeHost = {
      ...host,
      appendEvents: async (root, stream, events) => {
        await host.write(stream, { type: "gate.started", gate: "checks", tree: "t" as never, stages: [] });
        await host.appendEvents(root, stream, events);
      },
    };
    const ran = await on(quick, answer, ["login", "--undo"]);
    expect(ran).toMatchObject({ exit: 2, err: expect.stringContaining("work on it has just started") });
  });

  it.each(["send-back", "waive", "force-complete", "abandon"])("%s needs words", async (verb) => {
    const host = await stuck();
    const before = (await host.lines()).length;
    const ran = await on(host, answer, ["login", verb, "--message", "  "]);
    expect(ran).toMatchObject({ exit: 2, err: expect.stringContaining(`${verb} needs a message`) });
    expect(await host.lines()).toHaveLength(before);
  });

  it("accepts only the question's answers, and lists them", async () => {
    const ran = await on(await stuck(), answer, ["login", "raise-budget", "--limit", "4"]);
    expect(ran.exit).toBe(2);
    expect(ran.err).toContain("raise-budget is no answer to esc-login-1");
    expect(ran.err).toContain("remand answer esc-login-1 resolve");
    expect(await on(await stuck(), answer, ["login", "resolv"])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("Did you mean resolve?"),
    });
  });

  it("disputes a reviewer's findings by prefixes of their ids, whatever the question is", async () => {
    const host = await reviewed([SAME, SAME, SAME]);
    const { id } = stateOf(host.state(), "login").gates.review!.last!.findings[0]!;
    const listed = await on(host, inbox, []);
    expect(listed.out).toContain('remand answer esc-login-1 dispute --finding … --message "…"');
    expect(listed.out).toContain(`      --finding ${id}  src/f0.ts:1 same 0x\n`);
    const none = await on(host, answer, ["login", "dispute", "--message", "it is right"]);
    expect(none).toMatchObject({ exit: 2, err: expect.stringContaining(`--finding ${id}  src/f0.ts:1 same 0x`) });
    const wrong = await on(host, answer, ["login", "dispute", "--finding", "zz", "--message", "no"]);
    expect(wrong).toMatchObject({ exit: 2, err: expect.stringContaining("no finding begins with zz") });
    expect(
      await on(host, answer, ["login", "dispute", "--finding", id.slice(0, 6), "--message", "it is right"]),
    ).toMatchObject({ exit: 0 });
    expect((await lastEvent(host)).event).toMatchObject({ answer: { verb: "dispute", findings: [id] } });
  });

  it("refuses to dispute a finding twice, or a command's finding, and lists the others", async () => {
    const host = await reviewed([FAIL, FAIL, TWO]);
    const [first, second] = stateOf(host.state(), "login").gates.review!.last!.findings;
    const dispute = (finding: string, ...more: string[]) =>
      on(host, answer, ["login", "dispute", "--finding", finding, "--message", "no", ...more]);
    await dispute(first!.id);
    await host.write(
      storyId("login"),
      { type: "step.started", step: "adjudication" },
      {
        type: "finding.adjudicated",
        finding: first!.id,
        upheld: true,
        by: "judge",
        reason: "it throws",
        costUsd: 0,
        durationMs: 1,
      },
    );
    expect(await dispute(first!.id)).toMatchObject({
      exit: 2,
      err: expect.stringMatching(new RegExp(`${first!.id} was upheld by judge: it throws[^]*--finding ${second!.id}`)),
    });
    await dispute(second!.id);
    expect(await dispute(second!.id)).toMatchObject({ exit: 2, err: expect.stringContaining("is disputed already") });
    expect((await dispute(second!.id)).err).toContain("There is none left that can be disputed");

    const red = await stuck();
    await on(red, answer, ["login", "resolve"]);
    const printed = stateOf(red.state(), "login").gates.checks!.last!.findings[0]!.id;
    expect(
      await on(red, answer, ["login", "dispute", "--gate", "checks", "--finding", printed, "--message", "no"]),
    ).toMatchObject({ exit: 2, err: expect.stringContaining("is what a command printed") });
  });

  it("knows the gate of a finding without a question", async () => {
    const asked = await reviewed([FAIL, FAIL, FAIL]);
    const { id } = stateOf(asked.state(), "login").gates.review!.last!.findings[0]!;
    await on(asked, answer, ["login", "resolve"]);
    expect(stateOf(asked.state(), "login")).toMatchObject({ escalation: null, failing: null });
    expect(await on(asked, answer, ["login", "dispute", "--finding", id, "--message", "no"])).toMatchObject({
      exit: 0,
    });
    expect((await lastEvent(asked)).event).toMatchObject({ answer: { gate: "review", findings: [id] } });
    expect(stateOf(asked.state(), "login").disputes).toMatchObject([{ finding: id, gate: "review" }]);
  });

  it("raises the budget that the question is about", async () => {
    const script = scripted({ gates: { checks: ["fail", "fail"] }, attemptCostUsd: 6, attemptMs: 10 });
    const host = await hostAfterRun([story("login")], script, ["limits.costUsd=5"]);
    expect(await on(host, answer, ["login", "raise-budget"])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("--limit 20"),
    });
    expect(await on(host, answer, ["login", "raise-budget", "--limit", "6"])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("would stop it again"),
    });
    expect(await on(host, answer, ["login", "raise-budget", "--limit", "40.5"])).toMatchObject({ exit: 0 });
    expect(stateOf(host.state(), "login").raised).toEqual({ cost: 40.5 });
  });

  it("raises a time budget with a duration", async () => {
    const host = await hostAfterRun([story("login")], scripted({ gates: { checks: ["fail"] }, attemptMs: 7_200_000 }));
    expect(await on(host, answer, ["login", "raise-budget", "--limit", "5"])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("--limit 4h"),
    });
    expect(await on(host, answer, ["login", "raise-budget", "--limit", "4h"])).toMatchObject({ exit: 0 });
    expect(stateOf(host.state(), "login").raised).toEqual({ time: 14_400_000 });
  });

  it("works without a question, but not for an ended story, and not with an answer for the whole run", async () => {
    const host = await stuck();
    await host.write(storyId("open"), { type: "story.added", story: story("open") });
    expect(await on(host, answer, ["open", "raise-budget", "--budget", "cost", "--limit", "9"])).toMatchObject({
      exit: 0,
    });
    expect((await lastEvent(host)).event).toMatchObject({ answer: { escalation: null, budget: "cost", limit: 9 } });
    expect(await on(host, answer, ["open", "raise-budget", "--limit", "9"])).toMatchObject({ exit: 2 });
    expect(await on(host, answer, ["open", "halt"])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("about the whole run"),
    });
    expect(await on(host, answer, ["done", "abandon", "--message", "x"])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("is over: accepted"),
    });
    expect(await on(host, answer, ["nobody", "resolve"])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("called nobody"),
    });
  });

  it("uses the name from git, else that of the account, and requires --by if neither has one", async () => {
    const host = await stuck();
    const named = { ...host, userName: () => Promise.resolve("Ada Lovelace") };
    expect(await on(named, answer, ["login", "resolve"])).toMatchObject({ exit: 0 });
    expect((await lastEvent(host)).event).toMatchObject({ answer: { by: "Ada Lovelace" } });
    expect(await on(named, answer, ["login", "resolve", "--by", "Grace"])).toMatchObject({ exit: 0 });
    expect((await lastEvent(host)).event).toMatchObject({ answer: { by: "Grace" } });
    expect(await on(host, answer, ["login", "resolve"])).toMatchObject({ exit: 0 });
    expect((await lastEvent(host)).event).toMatchObject({ answer: { by: "ada" } });
    expect(await on(host, answer, ["login", "resolve"], { env: {} })).toMatchObject({
      exit: 2,
      err: expect.stringContaining("--by"),
    });
  });
});

describe("remand rework", () => {
  it("sends work back with a person's instructions, to the named phase", async () => {
    const host = await stuck();
    const ran = await on(host, rework, ["login", "--phase", "implement", "--message", "shorter"]);
    expect(ran).toMatchObject({ exit: 0, out: expect.stringContaining("login goes back to implement.") });
    expect((await lastEvent(host)).event).toMatchObject({
      answer: { verb: "send-back", by: "ada", message: "shorter", phase: "implement", escalation: "esc-login-1" },
    });
    expect(stateOf(host.state(), "login").requested).toEqual({ phase: "implement", message: "shorter" });
  });

  it("sends back accepted work, which reopens the story", async () => {
    const host = await stuck();
    expect(stateOf(host.state(), "done").ending?.how).toBe("accepted");
    expect(await on(host, rework, ["done", "--message", "shorter"])).toMatchObject({ exit: 0 });
    expect(stateOf(host.state(), "done")).toMatchObject({ ending: null, requested: { message: "shorter" } });
  });

  it.each([
    [["login"], "--message is missing"],
    [["login", "--phase", "plan", "--message", "x"], "login has no phase plan"],
    [["login", "--phase", "implment", "--message", "x"], "Did you mean implement?"],
    [["filed", "--message", "x"], "filed is over: accepted"],
    [["given-up", "--message", "x"], "given-up is over: abandoned"],
    [["new", "--message", "x"], "new has not started"],
  ])("%j is refused", async (args, message) => {
    const host = await stuck();
    await host.write(storyId("new"), { type: "story.added", story: story("new") });
    await host.write(storyId("filed"), { type: "story.added", story: story("filed", { shelf: "done" }) });
    await host.write(
      storyId("given-up"),
      { type: "story.added", story: story("given-up") },
      { type: "person.answered", answer: { verb: "abandon", by: "ada", message: "no", escalation: null } },
    );
    expect(await on(host, rework, args)).toMatchObject({ exit: 2, err: expect.stringContaining(message) });
  });
});

describe("remand stop", () => {
  it("pauses open stories, and lists what is still running", async () => {
    const host = await stuck();
    await host.write(storyId("b"), { type: "story.added", story: story("b") }, { type: "story.started", by: "engine" });
    const ran = await on(host, stop, ["--now"]);
    expect(ran.exit).toBe(0);
    expect(ran.out).toBe("paused: b, login; ended: b\n");
    expect(stateOf(host.state(), "b").stopping).toBe("ada");
    expect(stateOf(host.state(), "login").held).toBe(true);
    expect(stateOf(host.state(), "done").held).toBe(false);
    expect((await on(host, stop, [])).out).toContain("nothing to pause");
  });

  it("pauses only the named stories", async () => {
    const host = await stuck();
    const ran = await on(host, stop, ["login", "--json"]);
    expect(JSON.parse(ran.out)).toEqual({ schema: "remand.stop/1", held: ["login"], stillRunning: [] });
    expect((await lastEvent(host)).event).toEqual({ type: "story.held", by: "ada" });
    expect(await on(fakeHost(), stop, [])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("nothing has run here yet"),
    });
  });
});

describe("remand resume", () => {
  it("resumes all paused stories or the named ones, and reports that there is none", async () => {
    const host = await stuck();
    await host.write(storyId("b"), { type: "story.added", story: story("b") });
    expect(await on(host, resume, [])).toMatchObject({ exit: 0, out: "nothing to resume: no story here is paused\n" });
    await on(host, stop, []);
    expect((await on(host, resume, ["log"])).out).toBe("resumed: login\n");
    expect(stateOf(host.state(), "login").held).toBe(false);
    expect(JSON.parse((await on(host, resume, ["--json"])).out)).toEqual({ schema: "remand.resume/1", resumed: ["b"] });
    expect((await lastEvent(host)).event).toEqual({ type: "story.released", by: "ada" });
  });
});
