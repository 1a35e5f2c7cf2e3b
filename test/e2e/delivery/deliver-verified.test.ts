import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { fileURLToPath } from "node:url";
import { makeRepository, type TestRepository } from "../../kit/git-repository.ts";
import { sample, testInFull } from "../../sampled.ts";

/* Exactly what the gates passed is delivered, by the built program and real git, whatever happens to branches meanwhile. */

// Each starts the program several times.
vi.setConfig({ testTimeout: 240_000 });

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

/** The agent writes a file of its story's name, and counts how often it was asked. */
const AGENT = `#!/bin/sh
story=$(basename "$PWD")
echo . >> "$COUNT"
echo "$story" > "$story.txt"
test ! -e "$HOOKS/agent.sh" || . "$HOOKS/agent.sh"
echo "READY_FOR_REVIEW: $story"
`;

/** The check passes; a test may have it do something besides. */
const CHECK = `#!/bin/sh
test ! -e "$HOOKS/check.sh" || . "$HOOKS/check.sh"
`;

let repository: TestRepository;

beforeEach(() => {
  repository = makeRepository({ "agent.sh": AGENT, "check.sh": CHECK, "readme.txt": "one\n" }, "off");
  onTestFinished(() => repository.clear());
});

const git = (...args: string[]): string => repository.git(...args).trim();

function project(settings: string, ...stories: string[]): void {
  repository.write(
    "remand.yaml",
    `version: 1
preset: goal
phases: { implement: [integrity, checks] }
agents: { developer: { use: command, command: sh agent.sh, env: [COUNT, HOOKS] } }
gates: { checks: { commands: [sh check.sh] } }
env: [HOOKS]
limits: { backoff: 10ms, targetMoves: 4 }
${settings}
`,
  );
  for (const id of stories)
    repository.write(
      `stories/${id}.md`,
      `---\ntitle: Story ${id}\nstatus: ready\n---\n\nWrite it.\n\n## Acceptance Criteria\n\n- [ ] it is there\n`,
    );
  git("add", "--all");
  git("commit", "--quiet", "-m", "begin");
}

const AUTO = "deliver: merge\nmerge: auto\nautonomy: full";
const MANUAL = "deliver: merge";

/** For a check, whose environment names no person. */
const COMMIT = "git -c user.name=Eve -c user.email=eve@example.org";

/** What the agent, or the check, does besides. It runs in the story's worktree. */
const besides = (who: "agent" | "check", script: string): void =>
  writeFileSync(join(repository.home, `${who}.sh`), script);

function remand(...args: string[]): { status: number | null; out: string } {
  const env = { ...repository.env, COUNT: join(repository.home, "count"), HOOKS: repository.home };
  const options = { cwd: repository.root, env, encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], options);
  return { status, out: stdout + stderr };
}

const run = () => remand("run");
const answer = (verb: string) => remand("answer", "cap", verb, "--by", "Ada");

interface Line {
  readonly story: string | null;
  readonly event: { readonly type: string; readonly [key: string]: unknown };
}

const journal = (): Line[] =>
  remand("log", "--json")
    .out.split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Line);

const events = (type: string): Line["event"][] =>
  journal().flatMap(({ event }) => (event.type === type ? [event] : []));

const asked = (): number => readFileSync(join(repository.home, "count"), "utf8").trim().split("\n").length;

/** Every tree that all gates of the plan passed. */
function verifiedTrees(): string[] {
  const passed = events("gate.judged").map(({ judgement }) => judgement as Record<string, string>);
  const trees = (gate: string): string[] =>
    passed.filter((each) => each["gate"] === gate && each["result"] === "pass").map((each) => each["tree"]!);
  return trees("integrity").filter((tree) => trees("checks").includes(tree));
}

describe("a branch that moves during its own check", () => {
  // The check has a git directory of its own; it goes for the user's by its path.
  const MOVES = `
export GIT_DIR="$HOOKS/project/.git"
git rev-parse --verify --quiet refs/heads/remand/cap || exit 0
blob=$(echo stolen | git hash-object -w --stdin)
tree=$(printf '100644 blob %s\\tevil.txt\\n' "$blob" | git mktree)
evil=$(git -c user.name=Eve -c user.email=eve@example.org commit-tree "$tree" -p refs/heads/remand/cap -m evil)
git update-ref refs/heads/remand/cap "$evil"
`;

  const WAYS = [
    ["merge", AUTO, "main"],
    ["branch", "deliver: branch", "remand/cap"],
    ["pull-request", "deliver: pull-request", "remand/cap"],
  ] as const;
  test.each(sample(WAYS, 3))(
    "deliver: %s delivers the verified commit, and says what happened",
    (_how, settings, where) => {
      project(settings, "cap");
      besides("check", MOVES);
      const { status, out } = run();
      expect(status, out).toBe(0);
      expect(git("ls-tree", "--name-only", where)).not.toContain("evil.txt");
      expect(verifiedTrees()).toContain(git("rev-parse", `${where}^{tree}`));
      expect(git("rev-parse", "remand/cap")).toBe(events("attempt.finished")[0]!["commit"]);
      expect(JSON.stringify(events("gate.judged"))).toContain("was moved to");
      expect(git("log", "--format=%s", "refs/remand/dropped/cap")).toContain("evil");
    },
  );
});

/** A person commits a file of their own to the story's branch. */
function commitTo(story: string): void {
  const worktree = join(repository.root, ".remand", "worktrees", story);
  writeFileSync(join(worktree, "mine.txt"), "mine\n");
  repository.git("-C", worktree, "add", "--all");
  repository.git("-C", worktree, "commit", "--quiet", "-m", "mine");
}

test("a person's own commit on the branch is asked about: dropped, it is not merged", () => {
  project(MANUAL, "cap");
  expect(run().status).toBe(4);
  commitTo("cap");
  expect(answer("merge").status).toBe(0);
  const refused = run();
  expect(refused.status, refused.out).toBe(4);
  expect(refused.out).toContain("its branch has commits that no gate has passed");
  expect(git("ls-tree", "--name-only", "main")).not.toContain("cap.txt");
  expect(remand("inbox").out).toMatch(
    /Verify [0-9a-f]{12}, or drop it\?[\s\S]*answer esc-cap-2 resolve[\s\S]*answer esc-cap-2 drop/,
  );
  expect(answer("drop").status).toBe(0);
  run();
  expect(git("ls-tree", "--name-only", "main")).toContain("cap.txt");
  expect(git("ls-tree", "--name-only", "main")).not.toContain("mine.txt");
  expect(git("show", "refs/remand/dropped/cap:mine.txt")).toBe("mine");
});

testInFull("a person's own commit on the branch is asked about: verified, it is merged", () => {
  project(MANUAL, "cap");
  expect(run().status).toBe(4);
  commitTo("cap");
  answer("merge");
  run();
  answer("resolve");
  run();
  // What the person saw when they approved was another tree.
  expect(remand("inbox").out).toContain("Merge this work?");
  answer("merge");
  const { status, out } = run();
  expect(status, out).toBe(0);
  expect(git("show", "main:mine.txt")).toBe("mine");
  expect(verifiedTrees()).toContain(git("rev-parse", "main^{tree}"));
});

test("a file that a person fixes by hand is part of the work after resolve, and is what is merged", () => {
  project(MANUAL, "cap");
  besides("check", "test ! -e cap.txt || grep -q fixed cap.txt || exit 1\n");
  expect(run().status).toBe(4);
  writeFileSync(join(repository.root, ".remand", "worktrees", "cap", "cap.txt"), "fixed by hand\n");
  answer("resolve");
  expect(run().out).toContain("added Ada's changes (1 file)");
  answer("merge");
  const { status, out } = run();
  expect(status, out).toBe(0);
  expect(git("show", "main:cap.txt")).toBe("fixed by hand");
});

testInFull("merge: auto without the merge gate: two stories are both merged, in a bounded number of lines", () => {
  project(AUTO, "one", "two");
  const { status, out } = run();
  expect(status, out).toBe(0);
  expect(git("ls-tree", "--name-only", "main")).toMatch(/one\.txt[\s\S]*two\.txt/);
  expect(verifiedTrees()).toContain(git("rev-parse", "main^{tree}"));
  expect(journal().length).toBeLessThan(60);
});

testInFull("a target that moves at every check ends at a person, with a pause in between and not for ever", () => {
  project(AUTO, "cap");
  besides("check", `cd "${repository.root}" && echo more >> readme.txt && ${COMMIT} commit --quiet -am meanwhile\n`);
  const { status, out } = run();
  expect(status, out).toBe(4);
  expect(out).toContain("needs you: the target moved 4 times under it");
  expect(journal().length).toBeLessThan(60);
  besides("check", "");
  expect(answer("merge").status).toBe(0);
  expect(run().status).toBe(0);
  expect(git("ls-tree", "--name-only", "main")).toContain("cap.txt");
});

test("a target that conflicts sends the work back to the agent, without the merge gate too", () => {
  project(AUTO, "cap");
  besides(
    "check",
    `test -e "${repository.home}/moved" || { touch "${repository.home}/moved"; cd "${repository.root}"; echo theirs > cap.txt; git add cap.txt; ${COMMIT} commit --quiet -m theirs; }\n`,
  );
  const { status, out } = run();
  expect(status, out).toBe(0);
  expect(out).toContain("the merge gate failed");
  expect(git("show", "main:cap.txt")).toBe("cap");
});

describe("Merge this work?", () => {
  test("merge: Remand merges it in the person's name", () => {
    project(MANUAL, "cap");
    expect(run().status).toBe(4);
    const inbox = remand("inbox").out;
    expect(inbox.indexOf("cap-1 merge")).toBeGreaterThan(0);
    expect(inbox.indexOf("cap-1 merge")).toBeLessThan(inbox.indexOf("cap-1 resolve"));
    expect(answer("merge").out).toContain("Ada says merge");
    const { status, out } = run();
    expect(status, out).toBe(0);
    expect(git("show", "main:cap.txt")).toBe("cap");
    expect(events("work.delivered")[0]).toMatchObject({ by: "Ada", where: expect.stringContaining("approved by Ada") });
  });

  test("merge: unasked, it is no answer", () => {
    project("deliver: branch", "cap");
    besides("check", "exit 1\n");
    run();
    const refused = answer("merge");
    expect(refused.status).toBe(2);
    expect(refused.out).toContain("merge is no answer to esc-cap-1");
  });

  test("merge: accepted work on its branch is merged when a person says so, after the gates ran with a target that moved", () => {
    project("deliver: branch", "cap");
    expect(run().status).toBe(0);
    expect(answer("pull-request").out).toContain("Ada says pull-request");
    expect(remand("answer", "cap", "--undo", "--by", "Ada").status).toBe(0);
    repository.write("other.txt", "other\n");
    git("add", "--all");
    git("commit", "--quiet", "-m", "meanwhile");
    expect(answer("merge").out).toContain("Ada says merge");
    const { status, out } = run();
    expect(status, out).toBe(0);
    expect(git("show", "main:cap.txt")).toBe("cap");
    expect(git("log", "--format=%s", "main")).toContain("meanwhile");
    expect(verifiedTrees()).toContain(git("rev-parse", "main^{tree}"));
    expect(events("attempt.started")).toHaveLength(1);
    const again = answer("merge");
    expect(again.status).toBe(2);
    expect(again.out).toContain("cap is delivered already: main at ");
  });

  testInFull("resolve is checked: what is not merged is asked about again; a squash is recognized", () => {
    project(MANUAL, "cap");
    run();
    answer("resolve");
    const lied = run();
    expect(lied.status, lied.out).toBe(4);
    expect(lied.out).toMatch(/not delivered: main at \w{12} does not hold \w{12}/);
    expect(remand("inbox").out).toMatch(/does not hold[\s\S]*Merge this work\?/);
    git("merge", "--squash", "remand/cap");
    git("commit", "--quiet", "-m", "squashed");
    repository.write("later.txt", "later\n");
    git("add", "--all");
    git("commit", "--quiet", "-m", "later");
    answer("resolve");
    const { status, out } = run();
    expect(status, out).toBe(0);
    expect(events("work.delivered")[0]).toMatchObject({ by: "Ada", where: expect.stringContaining("merged by Ada") });
  });

  testInFull("a target whose history was replaced gets the work, and nothing of its old history back", () => {
    project(MANUAL, "cap");
    repository.write("secret.txt", "hunter2\n");
    git("add", "--all");
    git("commit", "--quiet", "-m", "with a secret");
    const old = git("rev-parse", "main");
    expect(run().status).toBe(4);
    git("reset", "--quiet", "--hard", "HEAD~1");
    repository.write("readme.txt", "rewritten\n");
    git("commit", "--quiet", "-am", "rewritten");
    answer("merge");
    const { status, out } = run();
    expect(status, out).toBe(0);
    expect(git("show", "main:cap.txt")).toBe("cap");
    expect(git("show", "main:readme.txt")).toBe("rewritten");
    expect(git("ls-tree", "--name-only", "main")).not.toContain("secret.txt");
    expect(git("rev-list", "main")).not.toContain(old);
    expect(verifiedTrees()).toContain(git("rev-parse", "main^{tree}"));
  });
});

testInFull(
  "a stale lock on the branch costs no attempt: the work is kept, and the question names the lock and the fix",
  () => {
    project("deliver: branch", "cap");
    besides(
      "agent",
      'mkdir -p "$(git rev-parse --git-common-dir)/refs/heads/remand"; : > "$(git rev-parse --git-common-dir)/refs/heads/remand/cap.lock"\n',
    );
    const stopped = run();
    expect(stopped.status, stopped.out).toBe(4);
    expect(asked()).toBe(1);
    const lock = join(repository.root, ".git", "refs", "heads", "remand", "cap.lock");
    expect(existsSync(lock)).toBe(true);
    expect(remand("inbox").out).toContain(`remove it: rm '${lock}'`);
    const { commit } = events("attempt.finished")[0]! as unknown as { commit: string };
    expect(git("rev-parse", "refs/remand/kept/cap")).toBe(commit);
    rmSync(lock);
    answer("resolve");
    const { status, out } = run();
    expect(status, out).toBe(0);
    expect(asked()).toBe(1);
    expect(git("show", "remand/cap:cap.txt")).toBe("cap");
  },
);
