import { afterEach, beforeEach, expect, test } from "vitest";
import { makeProject, type Project } from "../critic-audit-project.ts";

let project: Project;
beforeEach(() => void (project = makeProject()));
afterEach(() => project.clear());

test("a story that depends on another begins with its work, and brings its own alone to the judges", async () => {
  project.story("one");
  project.story("two", "depends_on: [one]\n");
  const done = await project.run(
    {
      "developer/one": [{ edit: { "src/one.js": "export const one = 1;\n" }, say: "READY_FOR_REVIEW: one\n" }],
      "developer/two": [{ edit: { "src/two.js": "export const two = 2;\n" }, say: "READY_FOR_REVIEW: two\n" }],
    },
    { set: ["phases.implement=[integrity, checks]"] },
  );
  expect(done.exitCode).toBe(0);
  const { git } = project.repository;
  expect(git("ls-tree", "--name-only", "remand/two", "src/")).toBe("src/one.js\nsrc/two.js\nsrc/wait.js\n");
  expect(git("rev-parse", "refs/remand/base/two")).toBe(git("rev-parse", "remand/one"));
  expect(git("ls-tree", "--name-only", "main", "src/")).toBe("src/wait.js\n");
});
