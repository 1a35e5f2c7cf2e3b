import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { parse } from "yaml";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const roots: string[] = [];
afterEach(() => roots.forEach((root) => rmSync(root, { recursive: true, force: true })));

const STORY = `---
# my own note
title: Say right
priority: 2
status: ready   # mine
---

Write right into answer.txt.
`;

test("the preset `story` keeps S4's fields in the story's file, and every other byte as it was", () => {
  const root = mkdtempSync(join(tmpdir(), "remand-front-matter-"));
  roots.push(root);
  mkdirSync(join(root, "stories"));
  writeFileSync(join(root, "stories/say-right.md"), STORY);
  writeFileSync(join(root, "answer.txt"), "right\n");
  writeFileSync(
    join(root, "remand.yaml"),
    `version: 1
preset: story
phases: { refine: false, research: false, plan: false, implement: [integrity, checks] }
deliver: branch
agents: { developer: { use: scripted, command: script.yaml } }
gates: { checks: { commands: ["grep -q right answer.txt || { echo 'answer.txt:1:1: error: it is not right'; exit 1; }"] } }
`,
  );
  writeFileSync(
    join(root, "script.yaml"),
    `version: 1\nattempts:\n  - { edit: { answer.txt: "wrong\\n" } }\n  - { edit: { answer.txt: "right again\\n" } }\n`,
  );
  const git = (...args: string[]): void =>
    void execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
      cwd: root,
      stdio: "pipe",
    });
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message=start");

  const ran = spawnSync(process.execPath, [MAIN, "run", "--reporter", "minimal"], { cwd: root, encoding: "utf8" });
  const text = readFileSync(join(root, "stories/say-right.md"), "utf8");
  const [, yaml = "", body] = text.split(/^---$/m);
  const fields = parse(yaml) as Record<string, unknown>;
  expect(ran.status, ran.stdout + ran.stderr).toBe(0);
  expect(text).toContain("# my own note\ntitle: Say right\npriority: 2\n");
  expect(body).toBe("\n\nWrite right into answer.txt.\n");
  expect(fields).toMatchObject({
    status: "done",
    implementation_complete: true,
    reviews_complete: true,
    refinement_count: 1,
  });
  expect(fields["refinement_iterations"]).toMatchObject([{ iteration: 1, agentType: "implement", result: "success" }]);
});
