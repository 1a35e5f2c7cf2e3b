import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGit } from "../../../src/adapters/git/git.ts";
import { repositoryOpener } from "../../../src/adapters/git/repository.ts";
import { makeRepository, type TestRepository } from "../../kit/git-repository.ts";

let repository: TestRepository;
/** An environment with a program before git on the PATH that records git's calls. */
let env: Record<string, string>;
beforeEach(() => {
  repository = makeRepository();
  const counter = join(repository.home, "bin");
  repository.write("../bin/git", `#!/bin/sh\necho "$@" >> ${counter}/calls\nPATH=\${PATH#*:} exec git "$@"\n`);
  chmodSync(join(counter, "git"), 0o755);
  repository.git("-C", "..", "init", "--quiet", "elsewhere");
  env = { ...repository.env, PATH: `${counter}:${repository.env["PATH"]}` };
  writeFileSync(join(counter, "calls"), "");
});
afterEach(() => repository.clear());

const calls = (): number => readFileSync(join(repository.home, "bin/calls"), "utf8").split("\n").length - 1;

describe("git", () => {
  test("is called once for data of objects", async () => {
    const git = createGit(repository.root, env);
    const commit = repository.git("rev-parse", "HEAD").trim();
    const tree = repository.git("rev-parse", "HEAD^{tree}").trim();
    for (const args of [
      ["rev-parse", "--verify", `${commit}^{tree}`],
      ["cat-file", "blob", `${commit}:README.md`],
      ["ls-tree", "-z", tree, "--", "README.md"],
      ["diff-tree", "-r", "--end-of-options", tree, tree],
    ]) {
      const before = calls();
      expect(await git.run(args)).toBe(await git.run(args));
      expect([args[0], calls() - before]).toEqual([args[0], 1]);
    }
  });

  test("is called again for what a name refers to", async () => {
    const git = createGit(repository.root, env);
    const read = (): Promise<string> => git.run(["cat-file", "blob", "HEAD:README.md"]);
    expect(await read()).toBe("hello\n");
    repository.write("README.md", "good morning\n");
    repository.git("commit", "--quiet", "--all", "--message", "more");
    expect(await read()).toBe("good morning\n");
  });

  test("is called again for an object that was missing", async () => {
    const git = createGit(repository.root, env);
    const blob = repository.git("-C", "../elsewhere", "hash-object", "../project/README.md").trim();
    repository.write("NEW.md", "new\n");
    const next = repository.git("-C", "../elsewhere", "hash-object", "../project/NEW.md").trim();
    expect((await git.ask(["cat-file", "blob", blob])).exitCode).toBe(0);
    expect((await git.ask(["cat-file", "blob", next])).exitCode).not.toBe(0);
    repository.git("hash-object", "-w", "NEW.md");
    expect(await git.run(["cat-file", "blob", next])).toBe("new\n");
  });
});

describe("a repository", () => {
  const open = () => repositoryOpener(repository.root, env)();

  test("that was opened is not opened again", async () => {
    const first = await open();
    const before = calls();
    expect(await open()).toBe(first);
    expect(calls()).toBe(before);
  });

  test.each([
    ["own", "--local"],
    ["user's", "--global"],
  ])("is opened again after its %s settings changed", async (_whose, where) => {
    const first = await open();
    repository.git("config", where, "user.name", "Ada");
    expect(await open()).not.toBe(first);
  });

  test("whose settings include other files is opened each time", async () => {
    repository.git("config", "include.path", "more");
    expect(await open()).not.toBe(await open());
  });
});
