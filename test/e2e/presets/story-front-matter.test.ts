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

const CONFIG = `version: 1
preset: story
phases: { refine: false, research: false, plan: false, implement: [integrity, checks] }
deliver: branch
agents: { developer: { use: scripted, command: script.yaml } }
gates: { checks: { commands: ["grep -q right answer.txt || { echo 'answer.txt:1:1: error: it is not right'; exit 1; }"] } }
`;

// S4.34, S4.65, S4.70
test("with `onExhausted: skip` a story goes back to the backlog, and none of its reworks is in progress", () => {
  const wrong = ["one", "two"].map((mark) => `  - { edit: { answer.txt: "wrong ${mark}\\n" } }\n`).join("");
  const root = checkoutOf({
    "stories/say-right.md": STORY,
    "answer.txt": "right\n",
    "remand.yaml": `${CONFIG}onExhausted: skip\nlimits: { failures: 2, perLocation: 9 }\nstall: { sameFailure: 0, plateau: 0 }\n`,
    "script.yaml": `version: 1\nattempts:\n${wrong}`,
  });
  spawnSync(process.execPath, [MAIN, "run", "--reporter", "minimal"], { cwd: root, encoding: "utf8" });
  const [, yaml = ""] = readFileSync(join(root, "stories/say-right.md"), "utf8").split(/^---$/m);
  const fields = parse(yaml) as Record<string, unknown>;
  expect(fields).toMatchObject({ status: "backlog", refinement_count: 1, reviews_complete: false });
  expect(fields["last_error"]).toMatch(/\S/);
  expect(fields["refinement_iterations"]).toMatchObject([
    { iteration: 1, completedAt: expect.any(String), result: "failed" },
  ]);
});

test("the preset `story` keeps S4's fields in the story's file, and every other byte as it was", () => {
  const root = checkoutOf({
    "stories/say-right.md": STORY,
    "answer.txt": "right\n",
    "remand.yaml": CONFIG,
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
