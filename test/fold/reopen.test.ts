import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import type { AnsweredComment } from "../../src/core/events/event.ts";
import { identifyFinding } from "../../src/core/gates/finding-identity.ts";
import { composeBrief, type BriefMaterial } from "../../src/decide/compose-brief.ts";
import { answer, story } from "../kit/story-world.ts";
import { begin, commandsOf, runScript, stateOf, foldEvents } from "../seeds/scripted-run.ts";

const POLICY = { ...presetPolicy("story"), deliver: "pull-request" } as const;
const accepted = () => runScript(begin(POLICY, story("a"))).run;
const comment = (id: string, message: string): AnsweredComment => ({
  id,
  finding: identifyFinding({ severity: "major", category: "review-comment", message, source: "ada", file: "src/a.ts" }),
});
const MATERIAL: BriefMaterial = {
  rolePrompt: "",
  evidence: [],
  judgedBy: [],
  filesModified: [],
  survivors: [],
  mutationScore: "",
  ci: null,
  report: "signal",
};

describe("accepted work on its branch that a person wants delivered", () => {
  const ON_BRANCH = { ...POLICY, deliver: "branch" } as const;
  const onBranch = () => runScript(begin(ON_BRANCH, story("a"))).run;

  it.each([
    ["merge", "deliver by merge", "Ada"],
    ["pull-request", "deliver by pull-request", undefined],
  ] as const)("is delivered by %s, without another attempt or gate", (verb, line, approvedBy) => {
    const asked = foldEvents(onBranch(), "a", answer(verb));
    expect(stateOf(asked, "a")).toMatchObject({ ending: null, deliver: verb });
    const ran = runScript(asked);
    expect(ran.lines).toEqual([line, "accept"]);
    expect(commandsOf(ran, "deliver")[0]?.approvedBy).toBe(approvedBy);
    expect(stateOf(ran.run, "a")).toMatchObject({ ending: { how: "accepted" }, delivered: expect.anything() });
  });

  it("stays as it was when the answer is undone", () => {
    const before = onBranch();
    const asked = foldEvents(before, "a", answer("merge"));
    const undone = foldEvents(asked, "a", { type: "answer.undone", by: "ada" });
    const { seq, ...rest } = stateOf(before, "a");
    expect(stateOf(undone, "a")).toEqual({ ...rest, seq: seq + 2 });
  });

  it("raises a new question after it was sent back: the approval was for other work", () => {
    const asked = foldEvents(onBranch(), "a", answer("merge"));
    const back = foldEvents(runScript(asked).run, "a", answer("send-back", { message: "rename it" }));
    expect(stateOf(back, "a").deliver).toBeUndefined();
    expect(runScript(back).lines.at(-1)).toBe("accept");
  });

  it("is not reopened if it was delivered, forced, or is a loop's", () => {
    const over = [
      accepted(),
      foldEvents(begin(ON_BRANCH, story("a")), "a", answer("force-complete")),
      runScript(begin(ON_BRANCH, story("a", { kind: "loop" }))).run,
    ];
    for (const run of over)
      for (const verb of ["merge", "pull-request"] as const)
        expect(stateOf(foldEvents(run, "a", answer(verb)), "a").ending?.how).toBe("accepted");
  });
});

describe("accepted work that somebody sends back", () => {
  it("is done again in the same place, judged again and delivered again", () => {
    const before = accepted();
    expect(stateOf(before, "a").ending?.how).toBe("accepted");
    const back = foldEvents(before, "a", answer("send-back", { message: "rename it" }));
    expect(stateOf(back, "a")).toMatchObject({ ending: null, delivered: null, requested: { phase: "implement" } });
    const ran = runScript(back);
    expect(ran.lines[0]).toBe("send back from person to implement");
    expect(ran.lines[1]).toMatch(/^implement by \S+ after person$/);
    expect(ran.lines.slice(2)).toEqual([
      "judge integrity",
      "judge checks",
      "judge review",
      "deliver by pull-request",
      "accept",
    ]);
  });

  it("blocks dependent stories that have not begun, until it is accepted again", () => {
    const next = story("b", { dependsOn: [story("a").id] });
    const free = foldEvents(accepted(), "b", { type: "story.added", story: next });
    expect(stateOf(free, "b").queued).not.toBeNull();
    const back = foldEvents(free, "a", answer("send-back", { message: "rename it" }));
    expect(stateOf(back, "b").queued).toBeNull();
    const ran = runScript(back);
    expect(stateOf(ran.run, "b").ending?.how).toBe("accepted");
  });

  it("has the comments with their locations in the brief, and records which were used", () => {
    const comments = [comment("line/1", "name it"), comment("review/2", "please fix")];
    const back = foldEvents(accepted(), "a", answer("send-back", { message: "2 comments", comments }));
    const ran = runScript(back);
    const [sent] = commandsOf(ran, "send-back");
    const brief = composeBrief(stateOf(back, "a"), sent!, MATERIAL);
    expect(brief.required).toEqual(comments.map(({ finding }) => finding));
    expect(brief.summary).toBe("2 comments");
    expect(stateOf(ran.run, "a").heard).toEqual(["line/1", "review/2"]);
    const again = foldEvents(
      ran.run,
      "a",
      answer("send-back", { message: "1 comment", comments: [comment("line/3", "x")] }),
    );
    expect(stateOf(again, "a").heard).toEqual(["line/1", "review/2", "line/3"]);
  });

  it("nothing else reopens an ended story, and no other ending is reopened", () => {
    const over = accepted();
    for (const verb of ["resolve", "waive", "raise-budget", "abandon", "force-complete"] as const)
      expect(stateOf(foldEvents(over, "a", answer(verb)), "a").ending?.how).toBe("accepted");
    const gone = foldEvents(begin(POLICY, story("a")), "a", answer("abandon"));
    expect(stateOf(foldEvents(gone, "a", answer("send-back")), "a").ending?.how).toBe("abandoned");
  });
});
