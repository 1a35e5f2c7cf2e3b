import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { storyId } from "../../../src/core/events/ids.ts";
import type { ScriptedAttempt } from "../../../src/core/schemas/agent-script.ts";
import { byText, lookup } from "../../../src/stdx/sorted-map.ts";
import { makeProject, wait, works, type Project } from "../critic-audit-project.ts";
import { testInFull } from "../../sampled.ts";

/* S3 from end to end: one goal, real runs, proven blame, and the four ways in which the loop gives up. */

let project: Project;
beforeEach(() => {
  project = makeProject();
  project.story("cap");
});
afterEach(() => project.clear());

const GOAL = ["preset=goal", "gates.checks.commands=[node --test]", "gates.checks.reruns=0"];
const wrong = (line: string): ScriptedAttempt => ({
  ...works(line),
  edit: { "src/wait.js": wait(line).replace("retry - 1", "retry") },
});
const why = (): unknown => project.events("escalation.raised")[0]?.escalation.reason;

test("a slip is blamed on its line, proven, and the brief allows that file and no other", async () => {
  const first = { ...wrong("// one"), edit: { ...wrong("// one").edit, "src/other.js": "export const other = 1;\n" } };
  const result = await project.run({ developer: [first, works("// two")] }, { set: GOAL });
  expect(result).toMatchObject({ exitCode: 0, stories: [{ attempts: 2 }] });
  const [found] = project.events("blame.found");
  expect(found?.blame).toMatchObject({
    verdict: "culprit",
    basis: "proven",
    suspects: [{ file: "src/wait.js", attempt: 1, role: "developer", phase: "implement" }],
  });
  expect(project.events("work.sent-back")[0]?.scope).toMatchObject({ allow: ["src/wait.js"], tests: "add-only" });
  expect(project.prompts("developer")[1]).toContain("ONLY modify src/wait.js");
});

testInFull("a place that fails after three reworks is a persistent trouble spot", async () => {
  const result = await project.run(
    { developer: [wrong("// one"), wrong("// two"), wrong("// three"), wrong("// four")] },
    { set: [...GOAL, "stall.sameFailure=0", "stall.plateau=0", "stall.grace=0"] },
  );
  expect(result).toMatchObject({ exitCode: 4, stories: [{ attempts: 4 }] });
  expect(why()).toMatchObject({ type: "stall", stall: "trouble-spot" });
  const { locations } = lookup(result.state.stories, storyId("cap"), byText)!;
  expect(Object.values(locations)[0]).toMatchObject({ attempts: 3, outcomes: ["fail", "fail", "fail"] });
});

test("a rework after which more fails is taken back to the best state, and a person is asked", async () => {
  const worse = { ...works("// worse"), edit: { "src/wait.js": "export const waitMs = () => 0;\n" } };
  const half = { ...works("// half"), edit: { "src/wait.js": wait("// half").replace("retry - 1", "retry") } };
  const more =
    "import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport { waitMs } from '../src/wait.js';\ntest('is a number above 0', () => assert.ok(waitMs(1) > 0));\n";
  project.repository.write("test/more.test.js", more);
  project.repository.git("add", "--all");
  project.repository.git("commit", "--quiet", "-m", "more tests");
  const result = await project.run({ developer: [half, worse] }, { set: GOAL });
  expect(result).toMatchObject({ exitCode: 4 });
  expect(why()).toMatchObject({ type: "stall", stall: "regression-cascade" });
  expect(project.events("tree.restored")).toHaveLength(1);
  expect(project.file("cap", "src/wait.js")).toContain("// half");
});

test("a failure that comes and goes on the same files is non-deterministic, and charged to nobody", async () => {
  const marks = join(project.repository.home, "marks");
  const green = "echo 'ok 1 - comes and goes'; echo '1..1'; echo '# tests 1'; echo '# pass 1'; echo '# fail 0'";
  // On the base it is steady: only with the work it comes and goes.
  const check = `grep -q one src/wait.js || { ${green}; exit 0; }; n=$(cat ${marks} 2>/dev/null || echo 0); echo $((n + 1)) > ${marks}; test $((n % 2)) = 1 || { echo '# Subtest: comes and goes'; echo 'not ok 1 - comes and goes'; echo '1..1'; echo '# tests 1'; echo '# pass 0'; echo '# fail 1'; exit 1; }; ${green}`;
  const result = await project.run(
    { developer: [works("// one"), works("// two"), works("// three")] },
    {
      set: ["preset=goal", `gates.checks.commands=${JSON.stringify([check])}`, "gates.checks.reruns=1", "sandbox=off"],
    },
  );
  expect(result).toMatchObject({ exitCode: 4, stories: [{ attempts: 1 }] });
  expect(why()).toMatchObject({ type: "non-deterministic" });
  expect(project.events("work.sent-back")).toEqual([]);
});

testInFull("suspects in unrelated files that nobody can tell apart are too broad for a targeted rework", async () => {
  const files = Object.fromEntries(["a", "b", "c", "d", "e", "f"].map((name) => [`lib/${name}.conf`, `${name} = 1\n`]));
  project.repository.write("check.sh", "test ! -d lib || { echo 'the settings do not fit together'; exit 1; }\n");
  project.repository.git("add", "--all");
  project.repository.git("commit", "--quiet", "-m", "a check");
  const result = await project.run(
    { developer: [{ edit: files, say: "READY_FOR_REVIEW: cap\n" }] },
    { set: ["preset=goal", "gates.checks.commands=[sh check.sh]", "gates.checks.reruns=0"] },
  );
  expect(result).toMatchObject({ exitCode: 4, stories: [{ attempts: 1 }] });
  expect(why()).toMatchObject({ type: "scope-too-broad" });
});
