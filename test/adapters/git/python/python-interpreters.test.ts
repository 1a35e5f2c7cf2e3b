import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { interpretersOf } from "../../../../src/adapters/git/python/python-folders.ts";
import { write } from "../../../kit/git-repository.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-interpreters-"));
  program("bin/python3", "#!/bin/sh\n");
  program("bin/make", "#!/bin/sh\n");
  program("other/python3.12", "#!/bin/sh\n");
  program("other/pytest", `#!${join(folder, "other/python3.12")}\n`);
  program("other/long", `#!/bin/sh\n'''exec' "${join(folder, "other/python3.12")}" "$0" "$@"\n' '''\n`);
  program("other/script", "#!/usr/bin/env -S python3 -u\n");
  program("project/.venv/bin/python", "#!/bin/sh\n");
  program("project/.venv/bin/pytest", `#!${join(folder, "project/.venv/bin/python")}\n`);
  program("pyenv/shims/python", "#!/usr/bin/env bash\n");
  program("pyenv/shims/tox", "#!/usr/bin/env bash\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function program(path: string, text: string): void {
  write(folder, path, text);
  chmodSync(join(folder, path), 0o755);
}

async function found(...commands: string[]): Promise<{ sure: string[]; likely: string[] }> {
  const path = ["bin", "other", "pyenv/shims"].map((each) => join(folder, each)).join(delimiter);
  const { sure, likely } = await interpretersOf(commands, join(folder, "project"), { PATH: path });
  const short = (paths: readonly string[]): string[] => paths.map((each) => each.slice(folder.length + 1));
  return { sure: short(sure), likely: short(likely) };
}

test.each([
  ["python3 -m pytest", "bin/python3"],
  ["pytest -q", "other/python3.12"],
  ["make && pytest 2>&1 | tee log", "other/python3.12"],
  ["long --fast", "other/python3.12"],
  ["script", "bin/python3"],
  ["tox", "pyenv/shims/python"],
  [".venv/bin/pytest", "project/.venv/bin/python"],
  ['".venv/bin/python" -m unittest', "project/.venv/bin/python"],
  [". .venv/bin/activate && pytest", "project/.venv/bin/python"],
  ["make; env -i A=1 timeout 60 pytest | cat; B=2 python3.12 -m pytest", "other/python3.12"],
])("the Python that `%s` starts is known", async (command, python) => {
  expect(await found(command)).toEqual({ sure: [python], likely: [] });
});

test("for other commands it is probably the one on the PATH", async () => {
  expect(await found("make test")).toEqual({ sure: [], likely: ["bin/python3", "pyenv/shims/python"] });
  expect(await found("nothing-here", "python3 x.py")).toEqual({
    sure: ["bin/python3"],
    likely: ["pyenv/shims/python"],
  });
  expect(await found("A=1")).toMatchObject({ sure: [] });
  expect(await found()).toMatchObject({ sure: [], likely: ["bin/python3", "pyenv/shims/python"] });
});
