import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkProblems, loadProblems } from "../../../src/compose/checks/check-problems.ts";
import { makeRepository } from "../../kit/git-repository.ts";

test("a virtual environment that git does not ignore is reported, because clean checkouts lack it", async () => {
  const { root, clear } = makeRepository();
  mkdirSync(join(root, ".venv/bin"), { recursive: true });
  writeFileSync(join(root, ".venv/bin/python"), "");
  chmodSync(join(root, ".venv/bin/python"), 0o755);
  const place = { root, env: { PATH: process.env["PATH"] ?? "" }, isElsewhere: true, hasSetup: false };
  const problems = () => checkProblems([".venv/bin/python -m pytest -q"], place);
  expect((await problems()).map(({ detail }) => detail)).toEqual([
    expect.stringContaining("git does not ignore .venv"),
  ]);
  writeFileSync(join(root, ".venv/.gitignore"), "*\n");
  expect(await problems()).toEqual([]);
  clear();
});

test("tests that pytest cannot load are found without running them", async () => {
  const { root, write, clear } = makeRepository();
  // A program that answers like pytest.
  write("bin/pytest", `#!/bin/sh\ncase "$*" in *--collect-only*) cat answer; exit $(cat code);; *) touch ran;; esac\n`);
  chmodSync(join(root, "bin/pytest"), 0o755);
  const env = { PATH: `${join(root, "bin")}:${process.env["PATH"] ?? ""}` };
  const answer = (code: number, text: string) => {
    write("code", String(code));
    write("answer", text);
    return loadProblems(["pytest -q", "make test"], { root, env, isElsewhere: true, hasSetup: false });
  };
  expect(await answer(0, "3 tests collected\n")).toEqual([]);
  const [problem] = await answer(2, "E   ModuleNotFoundError: No module named 'furl'\nERROR tests/test_furl.py\n");
  expect(problem).toMatchObject({
    name: "check `pytest -q`",
    ok: false,
    detail: "its tests cannot be loaded: ModuleNotFoundError: No module named 'furl'",
  });
  expect(existsSync(join(root, "ran"))).toBe(false);
  clear();
});
