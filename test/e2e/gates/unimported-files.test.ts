import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { checkoutOf } from "../checkout.ts";

/* An agent leaves what no commit can hold: it is told the path and the fix, and its next attempt is accepted. */

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

const COMMIT = "git -c user.name=Ada -c user.email=ada@example.org commit --quiet -m x";
const WORK = "mkdir -p scaffold bare; echo x > scaffold/x; echo x > bare/x; echo new > a.txt";

test.each([
  {
    what: "repositories of their own, with and without a commit, and a pipe",
    leaves: `${WORK}; (cd scaffold && git init --quiet && git add . && ${COMMIT}); git init --quiet bare; rm b.txt; mkfifo b.txt`,
    fixes: "rm -r scaffold/.git bare/.git b.txt; echo b > b.txt",
    args: [],
    told: [
      "scaffold this is a git repository of its own",
      "bare this is a git repository of its own",
      "b.txt this is a named pipe",
    ],
    fix: ["Remove scaffold/.git", "Remove bare/.git", "Remove b.txt"],
  },
  {
    what: "pipes, in a worktree",
    leaves: `${WORK}; rm b.txt c.txt; mkfifo b.txt c.txt new-pipe`,
    fixes: "rm b.txt c.txt; echo b > b.txt; echo c > c.txt",
    args: ["--worktree"],
    told: ["b.txt this is a named pipe", "c.txt this is a named pipe"],
    fix: ["Remove b.txt", "Remove c.txt"],
  },
])("an attempt that leaves $what goes back, and the next one is accepted", ({ leaves, fixes, args, told, fix }) => {
  const tools = mkdtempSync(join(tmpdir(), "remand-unimported-"));
  onTestFinished(() => rmSync(tools, { recursive: true, force: true }));
  const root = checkoutOf({
    "a.txt": "old\n",
    "b.txt": "b\n",
    "c.txt": "c\n",
    "check.sh": "grep new a.txt && cat scaffold/x bare/x b.txt c.txt\n",
  });
  const agent = join(tools, "agent.sh");
  writeFileSync(
    agent,
    `cat >> ${tools}/asked\nif test -e ${tools}/once; then ${fixes}; else touch ${tools}/once; ${leaves}; fi\n`,
  );
  const command = ["loop", ...args, "--reporter", "default", "--check", "sh check.sh", "--", "sh", agent];
  const env = { PATH: process.env["PATH"], HOME: join(root, ".."), GIT_CONFIG_NOSYSTEM: "1" };
  const ran = spawnSync(process.execPath, [MAIN, ...command], { cwd: root, encoding: "utf8", env });
  const out = ran.stdout + ran.stderr;
  expect(out).toContain(`attempt 1   integrity ✖ ${told.length} findings`);
  for (const each of told) expect(out).toContain(each);
  for (const each of fix) expect(readFileSync(join(tools, "asked"), "utf8")).toContain(each);
  expect(out).toMatch(/attempt 2 {3}integrity ✔ {2}checks ✔ {3}accepted/);
  expect(ran.status).toBe(0);
});
