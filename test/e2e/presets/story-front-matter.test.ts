import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { checkoutOf } from "../checkout.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

const STORY = `---
# my own note
title: Say right
priority: 2
status: ready   # mine
---

Write right into answer.txt.
`;

test("the preset `story` keeps S4's fields in the story's file, and every other byte as it was", () => {
  const root = checkoutOf({
    "stories/say-right.md": STORY,
    "answer.txt": "right\n",
    "remand.yaml": `version: 1
preset: story
phases: { refine: false, research: false, plan: false, implement: [integrity, checks] }
deliver: branch
agents: { developer: { use: scripted, command: script.yaml } }
gates: { checks: { commands: ["grep -q right answer.txt || { echo 'answer.txt:1:1: error: it is not right'; exit 1; }"] } }
`,
    "script.yaml": `version: 1\nattempts:\n  - { edit: { answer.txt: "wrong\\n" } }\n  - { edit: { answer.txt: "right again\\n" } }\n`,
  });

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
