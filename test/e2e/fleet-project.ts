import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder with a project in it and a bare repository that workers clone. */
export interface FleetProject {
  readonly folder: string;
  readonly checkout: string;
  readonly remote: string;
}

/** Two of three stories pass at the second attempt, every third never does and ends at a person; some wait for others. */
export function fleetProject(stories: number, more = ""): FleetProject {
  const folder = mkdtempSync(join(tmpdir(), "remand-fleet-"));
  const checkout = join(folder, "checkout");
  const files: Record<string, string> = {
    "answer.txt": "nothing yet\n",
    "remand.yaml": `version: 1
preset: goal
agents:
  developer: { use: scripted, command: script.yaml }
gates:
  checks:
    commands: ["grep -q right answer.txt"]
    blame: false
concurrency: { developers: 4, checks: 3 }
${more}`,
    "script.yaml": `version: 1
parts:
  - match: { story: "never-*" }
    attempts:
      - { delay: 150ms, edit: { answer.txt: "wrong 1\\n" }, say: "one" }
      - { delay: 150ms, edit: { answer.txt: "wrong 2\\n" }, say: "two" }
      - { delay: 150ms, edit: { answer.txt: "wrong 3\\n" }, say: "three" }
      - { delay: 150ms, edit: { answer.txt: "wrong 4\\n" }, say: "four" }
  - attempts:
      - { delay: 150ms, edit: { answer.txt: "wrong\\n" }, say: "first" }
      - { delay: 150ms, edit: { answer.txt: "right\\n" }, say: "second" }
`,
  };
  for (let i = 0; i < stories; i++) {
    const id = i % 3 === 2 ? `never-${i}` : `story-${i}`;
    const after = i % 6 === 4 ? `depends_on: [story-${i - 1}]\n` : "";
    files[`stories/${id}.md`] = `---\ntitle: ${id}\npriority: ${i}\n${after}---\n\nWrite the right answer.\n`;
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    writeFileSync(join(checkout, path), text);
  }
  const git = gitIn(checkout);
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message=start");
  const remote = join(folder, "remote.git");
  git("clone", "--quiet", "--bare", ".", remote);
  return { folder, checkout, remote };
}

const gitIn =
  (cwd: string) =>
  (...args: string[]): void =>
    void execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], { cwd, stdio: "pipe" });

/** Somebody writes one more story and pushes it. */
export function pushStory({ checkout, remote }: FleetProject, id: string, body: string): void {
  const git = gitIn(checkout);
  writeFileSync(join(checkout, "stories", `${id}.md`), `---\ntitle: ${id}\npriority: 1\n---\n\n${body}\n`);
  git("add", "--all");
  git("commit", "--quiet", `--message=${id}`);
  git("push", "--quiet", remote, "HEAD:main");
}
