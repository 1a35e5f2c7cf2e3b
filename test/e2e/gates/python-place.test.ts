import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeRepository, type TestRepository } from "../../kit/git-repository.ts";
import { makePython, pythonProgram, type PythonEnvironment } from "../../kit/python-environment.ts";
import { sample } from "../../sampled.ts";

/* A package that is installed as editable outside of the checkout, and leads to the checkout: the built program. */

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const program = pythonProgram();
if (program === null) console.warn("NOT RUN: there is no python3 here");

const CHECK = "python -m unittest discover -s tests";
const SHOP = "src/shop/__init__.py";
const RIGHT = "PRICE = 2\n";
const WRONG = "PRICE = 1\n";

/** It does what the file `do` beside the checkout says, and notes where Python took the package from. */
const AGENT = `import os, pathlib, shop
home = pathlib.Path(os.environ["HOME"])
(home / "imported").write_text(shop.__file__)
pathlib.Path("${SHOP}").write_text((home / "do").read_text())
`;

let repository: TestRepository;
let outside: PythonEnvironment;

const FORMS = {
  "a path": () => outside.byPath(join(repository.root, "src")),
  "a table": () => outside.byTable({ shop: join(repository.root, "src/shop") }),
} as const;

beforeEach(() => {
  repository = makeRepository(
    {
      ".gitignore": "__pycache__/\n",
      "pyproject.toml": '[project]\nname = "shop"\n',
      [SHOP]: WRONG,
      "tests/test_shop.py":
        "import unittest\nimport shop\n\n\nclass Prices(unittest.TestCase):\n    def test_price(self):\n        self.assertEqual(shop.PRICE, 2)\n",
      "agent.py": AGENT,
      "stories/two.md": '---\ntitle: Two\nstatus: ready\ntarget: "*"\n---\n\nLet the price be 2.\n',
      "remand.yaml": `version: 1\npreset: goal\nlimits: { failures: 1, backoff: 10ms }\nagents: { developer: { use: command, command: python agent.py } }\ngates: { checks: { commands: ["${CHECK}"], reruns: 0 } }\n`,
    },
    "off",
  );
  if (program !== null) outside = makePython(join(repository.home, "environment"), program);
});
afterEach(() => repository.clear());

function remand(...args: string[]): { exit: number | null; out: string } {
  const env = { ...repository.env, PATH: outside.env["PATH"]! };
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    cwd: repository.root,
    env,
    encoding: "utf8",
  });
  return { exit: status, out: stdout + stderr };
}

/** A commit whose file holds this; the checkout is left with the other text, on the branch it was on. */
function commitOf(text: string, other: string): string {
  repository.git("checkout", "--quiet", "-b", "tried");
  repository.write(SHOP, text);
  repository.git("commit", "--quiet", "--all", "--allow-empty", "-m", "tried");
  repository.git("checkout", "--quiet", "main");
  repository.write(SHOP, other);
  return "tried";
}

const forms = sample(Object.keys(FORMS) as (keyof typeof FORMS)[], 2);

describe.skipIf(program === null).each(forms)("installed by %s", (form) => {
  test("the gate judges the commit, and neither the good nor the bad files of the checkout", () => {
    FORMS[form]();
    const right = remand("gate", "checks", "--at", commitOf(RIGHT, WRONG));
    expect(right.exit, right.out).toBe(0);
    repository.git("branch", "-D", "tried");
    repository.git("checkout", "--quiet", "--", SHOP);
    const wrong = remand("gate", "checks", "--at", commitOf(WRONG, RIGHT));
    expect(wrong.exit, wrong.out).toBe(3);
    expect(wrong.out).toContain("1 != 2");
  });

  test("a run accepts what its own worktree holds, and its agent tries the same files", () => {
    FORMS[form]();
    repository.write("../do", `${RIGHT}# done\n`);
    const ran = remand("run", "--reporter", "minimal");
    expect(ran.exit, ran.out).toBe(0);
    expect(readFileSync(join(repository.root, SHOP), "utf8")).toBe(WRONG);
    const imported = readFileSync(join(repository.home, "imported"), "utf8");
    expect(imported).toBe(join(repository.root, ".remand/worktrees/two", SHOP));
  });

  test("a run does not accept wrong work because the checkout is right", () => {
    FORMS[form]();
    repository.write("../do", `${WRONG}# tried\n`);
    repository.write(SHOP, RIGHT);
    const ran = remand("run", "--reporter", "minimal");
    expect(ran.exit, ran.out).toBe(4);
    expect(ran.out).toContain("1 != 2");
  });
});

test.skipIf(program === null)("blame tries its states where it says it does", () => {
  FORMS["a path"]();
  repository.write(SHOP, RIGHT);
  repository.git("commit", "--quiet", "--all", "-m", "right");
  repository.write(SHOP, "PRICE = 3\n");
  repository.write("notes.py", "NOTE = 1\n");
  const { exit, out } = remand("blame", "--check", CHECK, "--json");
  expect(exit, out).toBe(0);
  const answer = JSON.parse(out.slice(out.indexOf("{"), out.lastIndexOf("}") + 1)) as Record<string, unknown>;
  expect(answer).toMatchObject({ kind: "hunk", proven: true, hunks: [{ file: SHOP }] });
});

test.skipIf(program === null)("what cannot be judged is refused before an agent is paid for it", () => {
  outside.byFirstFinder("shop", join(repository.root, SHOP));
  repository.write("../do", RIGHT);
  const gate = remand("gate", "checks", "--at", "HEAD");
  expect(gate.out).toContain("would test files other than the story's");
  expect(gate.exit).not.toBe(0);
  const ran = remand("run", "--reporter", "minimal");
  expect(ran.exit, ran.out).not.toBe(0);
  expect(remand("inbox").out).toContain("_shop_editable_loader");
  expect(existsSync(join(repository.home, "imported"))).toBe(false);
});
