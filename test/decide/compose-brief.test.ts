import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import type { Brief } from "../../src/core/stories/brief.ts";
import type { SendBack } from "../../src/core/stories/command.ts";
import { identifyFinding } from "../../src/core/gates/finding-identity.ts";
import { roleName } from "../../src/core/events/ids.ts";
import type { PresetName } from "../../src/core/events/policy.ts";
import type { Severity } from "../../src/core/gates/finding.ts";
import { composeBrief, type BriefMaterial } from "../../src/decide/compose-brief.ts";
import { newStory } from "../../src/fold/new-state.ts";
import { answer, attemptEnd, attemptStart, story } from "../kit/story-world.ts";
import { begin, runScript, foldEvents, world, type Script, type World } from "../seeds/scripted-run.ts";

const MATERIAL: BriefMaterial = {
  rolePrompt: "You are a developer.",
  evidence: [{ title: "Output", text: "1 failed", fullAt: "log/1" }],
  judgedBy: ["npm test"],
  filesModified: ["src/a.ts"],
  survivors: [{ file: "src/a.ts", line: 3, mutation: "> to >=", description: "d", recommendedTest: "the boundary" }],
  mutationScore: "95%",
  ci: { step: "test", runId: "17" },
  report: "tool",
};

function briefs(
  preset: PresetName,
  happens: World,
  script: Script = () => null,
  run = begin(presetPolicy(preset), story("a")),
): Brief[] {
  const all: Brief[] = [];
  const rest = world(happens);
  runScript(run, (command, state, now) => {
    if (command.type === "send-back") all.push(composeBrief(state!, command, MATERIAL));
    return script(command, state, now) ?? rest(command, state, now);
  });
  return all;
}

const finding = (severity: Severity, message: string) =>
  identifyFinding({ severity, category: "logic", message, source: "critic", file: "src/a.ts", line: 1 });

describe("composeBrief", () => {
  // S4.53
  it("carries everything the judgement and the engine know", () => {
    const judged = {
      requiredFixes: ["Handle the error"],
      context: ["The API changed"],
      criteria: [{ criterion: "AC1", status: "verified", evidence: "seen" }],
      runs: [{ check: "tests", command: "npm test", environment: "linux", result: "fail", exitCode: 1, details: "x" }],
      stages: [{ stage: "code", result: "fail", reviewer: roleName("code-reviewer") }],
      conflicts: [
        { file: "src/a.ts", line: 1, between: ["security", "code"], says: ["add", "remove"], winner: "security" },
      ],
    } as const;
    const [brief] = briefs("critic-audit", { gates: { review: [{ result: "fail", more: judged }] } });
    expect(brief).toMatchObject({
      ...judged,
      ...MATERIAL,
      ci: null,
      story: { id: "a", title: "Story a", goal: "Make it work." },
      blame: null,
      gate: "review",
      variant: "review",
    });
  });

  // S4.46
  it("separates required findings from information, the worst first, and takes its priority from the first", () => {
    const findings = [
      finding("minor", "one"),
      finding("major", "two"),
      finding("blocker", "three"),
      finding("info", "four"),
    ];
    const blocking = [findings[1]!.id, findings[2]!.id];
    const [brief] = briefs("critic-audit", { gates: { review: [{ result: "fail", more: { findings, blocking } }] } });
    expect(brief?.required.map(({ severity }) => severity)).toEqual(["blocker", "major"]);
    expect(brief?.information.map(({ severity }) => severity)).toEqual(["minor", "info"]);
    expect(brief?.priority).toBe("HIGH");
  });

  it("has a medium priority without findings", () => {
    const [brief] = briefs("critic-audit", {
      gates: { review: [{ result: "fail", more: { findings: [], blocking: [] } }] },
    });
    expect(brief).toMatchObject({ required: [], information: [], priority: "MEDIUM" });
  });

  it("names the class, step and run of a CI failure", () => {
    const [brief] = briefs("factory", { gates: { ci: [{ result: "fail", ciClass: "build" }] } });
    expect(brief?.ci).toEqual({ class: "build", step: "test", runId: "17" });
  });

  it("carries the blame", () => {
    const [brief] = briefs("goal", {
      gates: { checks: ["fail"] },
      blame: [{ verdict: "culprit", file: "src/auth.ts" }],
    });
    expect(brief?.blame).toMatchObject({ verdict: "culprit", suspects: [{ file: "src/auth.ts" }] });
    expect(brief?.scope.allow).toEqual(["src/auth.ts"]);
  });

  // S3.11
  it("counts the reworks of the blamed location only", () => {
    const at = (file: string) => ({ verdict: "culprit", file }) as const;
    const blame = [at("src/auth.ts"), at("src/b.ts"), at("src/auth.ts"), "unmet"] as const;
    const all = briefs("goal", { gates: { checks: ["fail", "fail", "fail", "fail"] }, blame });
    expect(all.map(({ locationAttempt }) => locationAttempt)).toEqual([1, 1, 2, undefined]);
  });

  it("names the iterations if a gate has no limit, and a person's guidance", () => {
    const first = runScript(
      begin(presetPolicy("critic-audit"), story("a")),
      world({ gates: { review: ["fail", "fail", "fail"] } }),
    ).run;
    const asked = foldEvents(first, "a", answer("send-back", { phase: "implement", message: "use the other library" }));
    const [brief] = briefs("critic-audit", {}, undefined, asked);
    expect(brief).toMatchObject({
      gate: "person",
      summary: "use the other library",
      failure: 0,
      failureLimit: 30,
      guidance: ["Ada: use the other library"],
      required: [],
    });
  });

  it("explains the format in full after an unreadable reply", () => {
    const state = {
      ...newStory(story("a"), 0, 0),
      counters: { ...newStory(story("a"), 0, 0).counters, lastFailure: { type: "unclear", detail: "" } as const },
    };
    const command: SendBack = {
      type: "send-back",
      gate: "review",
      variant: "review",
      failure: 2,
      failureLimit: null,
      route: { phase: "implement", role: roleName("developer"), reason: "" },
      scope: { allow: [], deny: [], tests: "open", exceptions: "never", reason: "" },
    };
    expect(composeBrief(state, command, MATERIAL)).toMatchObject({
      spellOutFormat: true,
      failureLimit: 3,
      summary: "",
      stages: [],
    });
  });

  it("leaves out earlier attempts that no gate judged", () => {
    let crashes = 1;
    const crash: Script = (command, state) =>
      command.type === "start-attempt" && command.attempt === 2 && crashes-- > 0
        ? [
            attemptStart(command),
            attemptEnd(2, { type: "crashed", detail: "" }, state!.tree!, { changed: [], productChanged: false }),
          ]
        : null;
    const all = briefs("critic-audit", { gates: { review: ["fail", "fail"] } }, crash);
    expect(all[1]?.earlier.map(({ attempt }) => attempt)).toEqual([1]);
    expect(all[1]?.attempt).toBe(4);
  });
});
