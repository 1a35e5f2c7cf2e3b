import { spawnSync } from "node:child_process";
import { existsSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { checkoutOf } from "../checkout.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

const remand = (cwd: string, ...argv: string[]) =>
  spawnSync(process.execPath, [MAIN, ...argv], { cwd, encoding: "utf8" });

test("links and ids that git or a file system would not take are refused with file, reason and fix", () => {
  const root = checkoutOf({
    "stories/good.md": "# Say right\n",
    "stories/HEAD.md": "# One\n",
    "stories/x.lock.md": "# Two\n",
    "stories/a..b.md": "# Three\n",
    "stories/Good.md": "# Four\n",
    "stories/named.md": "---\nid: other.lock\n---\n# Five\n",
    "elsewhere/real.md": "# Six\n",
    "answer.txt": "wrong\n",
    "remand.yaml": `version: 1
preset: goal
agents: { developer: { use: scripted, command: script.yaml } }
gates: { checks: { commands: ["grep -q . answer.txt"] } }
`,
    "script.yaml": `version: 1\nattempts:\n  - { edit: { answer.txt: "right\\n" } }\n`,
  });
  symlinkSync("../elsewhere/real.md", join(root, "stories/link.md"));
  symlinkSync("/nowhere/at/all.md", join(root, "stories/dangling.md"));

  const listed = remand(root, "stories");
  expect(listed.status).toBe(2);
  for (const line of [
    "stories/link.md:1:1: error: a story cannot be a symbolic link",
    "stories/dangling.md:1:1: error: a story cannot be a symbolic link",
    `stories/HEAD.md:1:1: error: the file's name "HEAD" cannot be a story's id: git uses HEAD`,
    `stories/x.lock.md:1:1: error: the file's name "x.lock" cannot be a story's id: git refuses branches whose names end in .lock`,
    `stories/a..b.md:1:1: error: the file's name "a..b" cannot be a story's id`,
    `stories/named.md:2:5: error: "other.lock" cannot be a story's id`,
    `stories/good.md:1:1: error: the id "good" differs only by case from "Good" of stories/Good.md`,
  ])
    expect(listed.stdout).toContain(line);
  expect(listed.stdout).toContain("1 story · 7 errors in stories");
  expect(listed.stdout).toContain("Rename the file, or give the story an id.");

  const refused = remand(root, "run", "--reporter", "default");
  expect(refused.status).toBe(2);
  expect(refused.stderr).toContain("stories/link.md:1:1: error: a story cannot be a symbolic link");
  expect(existsSync(join(root, ".remand/worktrees"))).toBe(false);

  for (const name of ["link", "dangling", "HEAD", "x.lock", "a..b", "named", "good"])
    rmSync(join(root, `stories/${name}.md`));
  const ran = remand(root, "run", "--reporter", "default");
  expect(ran.status, ran.stdout + ran.stderr).toBe(0);
});
