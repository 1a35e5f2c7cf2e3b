import { join } from "node:path";
import { makeRepository } from "../../kit/git-repository.ts";
import { rightAnswer } from "../right-answer.ts";

/** A folder with a project in it and a bare repository that workers clone. */
export interface FleetProject {
  readonly folder: string;
  readonly checkout: string;
  readonly remote: string;
  /** A person writes one more story and pushes it. */
  pushStory(id: string, body: string): void;
  /** A person adds lines to the config and pushes it. */
  pushConfig(more: string): void;
}

/** A project of right answers, in which some stories wait for others. */
export function fleetProject(stories: number): FleetProject {
  const files = rightAnswer({
    stories,
    attemptMs: 150,
    config: `gates:
  checks:
    commands: ["grep -q right answer.txt"]
    blame: false
concurrency: { developers: 4, checks: 3 }
`,
    frontMatter: (story) => (story % 6 === 4 ? `depends_on: [story-${story - 1}]\n` : ""),
  });
  const { home, root, git, write } = makeRepository(files);
  const remote = join(home, "remote.git");
  git("clone", "--quiet", "--bare", ".", remote);
  const push = (path: string, text: string): void => {
    write(path, text);
    git("add", "--all");
    git("commit", "--quiet", `--message=${path}`);
    git("push", "--quiet", remote, "HEAD:main");
  };
  return {
    folder: home,
    checkout: root,
    remote,
    pushStory: (id, body) => push(`stories/${id}.md`, `---\ntitle: ${id}\npriority: 1\ntarget: "*"\n---\n\n${body}\n`),
    pushConfig: (more) => push("remand.yaml", `${files["remand.yaml"]}${more}`),
  };
}
