import { afterEach, beforeEach, expect, test } from "vitest";
import { mismatchWithPullRequest } from "../../../../src/adapters/git/checkout/gated-checkout.ts";
import { treeId } from "../../../../src/core/events/ids.ts";
import { makeRepository, type TestRepository } from "../../../kit/git-repository.ts";

let repository: TestRepository;
let head: string;
beforeEach(() => {
  repository = makeRepository({ "a.txt": "a\n" });
  const { git, write } = repository;
  git("checkout", "--quiet", "-b", "work");
  write("b.txt", "b\n");
  git("add", "--all");
  git("commit", "--quiet", "--message=work");
  head = git("rev-parse", "HEAD").trim();
  git("checkout", "--quiet", "--detach", "work~1");
  write("c.txt", "c\n");
  git("add", "--all");
  git("commit", "--quiet", "--message=elsewhere");
});
afterEach(() => repository.clear());

const idOf = (name: string): string => repository.git("rev-parse", name).trim();
const judged = (name: string, mergeCommit: string | null = null) =>
  mismatchWithPullRequest(
    repository.root,
    { commit: idOf(name), tree: treeId(idOf(`${name}^{tree}`)) },
    { head, mergeCommit },
  );

test("the newest commit, and its merge into the target, belong to the pull request", async () => {
  expect(await judged("work")).toBeNull();
  repository.git("merge", "--quiet", "--no-ff", "--message=merge", head);
  expect(await judged("HEAD")).toBeNull();
});

test("another commit does not, and neither do files that differ from their commit", async () => {
  expect(await judged("HEAD")).toContain(`and the pull request is at ${head.slice(0, 12)}`);
  expect(await judged("work~1")).toContain("gate its newest commit");
  const other = { commit: head, tree: treeId(idOf("HEAD^{tree}")) };
  expect(await mismatchWithPullRequest(repository.root, other, { head, mergeCommit: null })).toContain("--at HEAD");
});

test("a merge with more than its two sides does not, unless the forge made it", async () => {
  repository.git("merge", "--quiet", "--no-ff", "--no-commit", head);
  repository.write("a.txt", "smuggled\n");
  repository.git("commit", "--quiet", "--all", "--message=merge");
  expect(await judged("HEAD")).toContain("gate its newest commit");
  expect(await judged("HEAD", idOf("HEAD"))).toBeNull();
  expect(await judged("HEAD~1", idOf("HEAD~1"))).toContain("gate its newest commit");
});
