import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import type { HeardComment } from "../../src/core/events/event.ts";
import { identifyFinding } from "../../src/core/gates/finding-identity.ts";
import { composeBrief, type BriefMaterial } from "../../src/decide/compose-brief.ts";
import { answer, story } from "../kit/story-world.ts";
import { begin, commandsOf, runScript, stateOf, foldEvents } from "../seeds/scripted-run.ts";

const POLICY = { ...presetPolicy("story"), deliver: "pull-request" } as const;
const accepted = () => runScript(begin(POLICY, story("a"))).run;
const comment = (id: string, message: string): HeardComment => ({
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

describe("accepted work that somebody sends back", () => {
  it("is done again where it was, judged again and delivered again", () => {
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

  it("holds up what has not begun and depends on it, until it is accepted again", () => {
    const next = story("b", { dependsOn: [story("a").id] });
    const free = foldEvents(accepted(), "b", { type: "story.added", story: next });
    expect(stateOf(free, "b").queued).not.toBeNull();
    const back = foldEvents(free, "a", answer("send-back", { message: "rename it" }));
    expect(stateOf(back, "b").queued).toBeNull();
    const ran = runScript(back);
    expect(stateOf(ran.run, "b").ending?.how).toBe("accepted");
  });

  it("tells the brief what was said of which place, and remembers what was heard", () => {
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

  it("nothing else opens a story that is over, and no other ending is opened", () => {
    const over = accepted();
    for (const verb of ["resolve", "waive", "raise-budget", "abandon", "force-complete"] as const)
      expect(stateOf(foldEvents(over, "a", answer(verb)), "a").ending?.how).toBe("accepted");
    const gone = foldEvents(begin(POLICY, story("a")), "a", answer("abandon"));
    expect(stateOf(foldEvents(gone, "a", answer("send-back")), "a").ending?.how).toBe("abandoned");
  });
});
