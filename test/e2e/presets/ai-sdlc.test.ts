import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { makeRepository } from "../../kit/git-repository.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

/** As S4's own story is: implemented on a branch, not reviewed yet, with fields that only its tool knows. */
const STORY = `---
id: S-0001
title: Say right
slug: say-right
priority: 2
status: in-progress
research_complete: true
plan_complete: true
implementation_complete: true
reviews_complete: false
max_retries: 2
branch: ai-sdlc/say-right
---
# Say right

## Acceptance Criteria

- [ ] answer.txt says right
`;

const SCRIPT = `version: 1
parts:
  - match: { role: developer }
    attempts:
      - { edit: { answer.txt: "right and proper\\n" } }
  - match: { role: critic }
    attempts:
      - say: '{"passed": true, "issues": []}'
      - say: '{"passed": false, "issues": [{"severity": "critical", "category": "correctness", "file": "answer.txt", "line": 1, "description": "it is not proper", "suggestedFix": "Say it."}], "context": ["two shops read it"]}'
      - say: '{"passed": true, "issues": []}'
      - say: "REVIEW_PASSED: S-0001"
`;

// S4.7, S4.49, S4.104, S4.105
test("a project of ai-sdlc is imported, and work on a story's branch is adopted, reviewed and reworked there", () => {
  const repository = makeRepository({
    ".ai-sdlc/stories/S-0001/story.md": STORY,
    ".ai-sdlc/stories/S-0001/research.md": "# Research\n\nanswer.txt is read by a shop.\n",
    ".ai-sdlc.json": JSON.stringify({
      refinement: { maxIterations: 2 },
      maxActions: 50,
      testCommand: "grep -q right answer.txt",
      tdd: {},
    }),
    "answer.txt": "right\n",
    "script.yaml": SCRIPT,
  });
  onTestFinished(() => repository.clear());
  const { root } = repository;
  repository.git("checkout", "-q", "-b", "ai-sdlc/say-right");
  repository.write("begun.txt", "begun by another tool\n");
  repository.git("add", "begun.txt");
  repository.git("commit", "-q", "-m", "begun");
  repository.git("checkout", "-q", "main");
  const remand = (...args: string[]) =>
    spawnSync(process.execPath, [MAIN, ...args], { cwd: root, env: repository.env, encoding: "utf8" });

  const none = remand("stories");
  expect(none.stdout).toContain("remand import ai-sdlc --dry-run");
  const planned = remand("import", "ai-sdlc", "--dry-run");
  expect(planned.stdout).toContain("would write  stories/S-0001.md from .ai-sdlc/stories/S-0001/story.md");
  expect(existsSync(join(root, "stories"))).toBe(false);
  expect(remand("import", "ai-sdlc").status).toBe(0);
  const text = readFileSync(join(root, "stories/S-0001.md"), "utf8");
  // Nothing of the story is lost: what is new is added.
  for (const line of STORY.split("\n")) expect(text.split("\n")).toContain(line);
  expect(text).toContain("answer.txt is read by a shop.");
  expect(parse(readFileSync(join(root, "remand.yaml"), "utf8"))).toMatchObject({
    preset: "story",
    gates: { checks: { commands: ["grep -q right answer.txt"] } },
    limits: { failures: 3, run: { actions: 50 } },
  });

  repository.git("add", "stories", "remand.yaml");
  repository.git("commit", "-q", "-m", "imported");
  const scripted = "{ use: scripted, command: script.yaml }";
  const agents = `agents={ developer: ${scripted}, critic: ${scripted} }`;
  const phases = "phases={ refine: false, research: false, plan: false }";
  const ran = remand("run", "--reporter", "default", "--set", agents, "--set", phases, "--set", "deliver=branch");
  expect(ran.status, ran.stdout + ran.stderr).toBe(0);
  expect(ran.stdout).toContain("goes on with the work on ai-sdlc/say-right: 1 file changed");
  // The first thing that an agent does is the rework after the review of what was there.
  expect(ran.stdout).toMatch(/attempt 1 {2}developer works, rework after review/);
  expect(repository.git("show", "remand/S-0001:begun.txt")).toBe("begun by another tool\n");
  const notes = repository.git("show", "remand/S-0001:stories/S-0001.md");
  expect(notes).toContain("### Iteration 1: implement");
  expect(notes).toContain("two shops read it");
  const fields = parse(readFileSync(join(root, "stories/S-0001.md"), "utf8").split(/^---$/m)[1]!) as object;
  expect(fields).toMatchObject({ status: "done", slug: "say-right", refinement_count: 1 });
});
