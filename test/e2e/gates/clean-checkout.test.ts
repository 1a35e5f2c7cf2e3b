import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gitIn, makeRepository, write, type TestRepository } from "../../kit/git-repository.ts";
import { pythonProgram } from "../../kit/python-environment.ts";

/*
 * What an agent leaves beside its commit decides nothing: one run of the built program, with stories whose agents hide a
 * bug from the check in their own folder (more ways are in test/attacks), and one for an honest change.
 */

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const hasPython = pythonProgram() !== null;
if (!hasPython) console.warn("NOT RUN: the case about Python, because there is no python3 here");

const PRICE = "export const price = (count, rate) => count * rate;\n";
const BUG = PRICE.replace("count * rate", "count * rate + 1");
/** With the bug, unless a file that is not in the commit takes it out. */
const WITH = (file: string): string => `let fix = 1;
try {
  fix = (await import("${file}")).fix;
} catch {
  // It is not there.
}
export const price = (count, rate) => count * rate + fix;
`;
const NO_FIX = "export const fix = 0;\n";

const CHECK = `set -e
git describe --tags > /dev/null
git update-ref refs/heads/moved-by-the-check HEAD
npm test --silent
${hasPython ? "PYTHONPATH=py python3 -m unittest discover -s py" : ""}
`;

const PROJECT = {
  ".gitignore": "node_modules/\n__pycache__/\nsitecustomize.py\nsrc/generated.js\n.env.test\n",
  "package.json": JSON.stringify({
    name: "shop",
    type: "module",
    scripts: { pretest: "node codegen.js", test: "node --test test/price.test.js" },
  }),
  "package-lock.json": '{ "name": "shop", "lockfileVersion": 3, "packages": {} }\n',
  "codegen.js":
    'import { writeFileSync } from "node:fs";\nwriteFileSync("src/generated.js", "export const count = 3;\\n");\n',
  "src/price.js": PRICE,
  "test/price.test.js": `import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { rate } from "rates";
import { count } from "../src/generated.js";
import { price } from "../src/price.js";

test("three cost thirty", () => {
  assert.equal(readFileSync("data/currency.txt", "utf8"), "EUR\\n");
  assert.equal(readFileSync(".env.test", "utf8"), "REGION=eu\\n");
  assert.equal(price(count, rate), 30, \`wrong in \${import.meta.filename ?? import.meta.url}\`);
});
`,
  "py/price.py": "def price(count):\n    return count * 10\n",
  "py/test_price.py":
    "import unittest\nfrom price import price\n\n\nclass Prices(unittest.TestCase):\n    def test_three(self):\n        self.assertEqual(price(3), 30)\n",
  "check.sh": CHECK,
  "remand.yaml": `version: 1
preset: goal
limits: { failures: 1, backoff: 10ms }
blame: { prove: false }
concurrency: { stories: 4 }
phases: { implement: [checks] }
workspace: { carry: [.env.test] }
agents: { developer: { use: command, command: 'sh "$HOME/agents/\${REMAND_KEY%%:*}.sh"' } }
gates: { checks: { commands: ["sh check.sh"], reruns: 0 } }
`,
};

interface Way {
  readonly does: string;
  readonly files: Readonly<Record<string, string>>;
  readonly shell: string;
}

const WAYS: Readonly<Record<string, Way>> = {
  package: {
    does: "replaces an installed package",
    files: { "src/price.js": BUG },
    shell: `rm -r node_modules/rates; mkdir node_modules/rates; echo '{"type":"module","main":"index.js"}' > node_modules/rates/package.json; echo 'export const rate = 29 / 3;' > node_modules/rates/index.js`,
  },
  link: {
    does: "links to a file outside of the repository",
    files: { "src/price.js": WITH("./linked.js") },
    shell: `mkdir -p "$HOME/outside"; echo 'export const fix = 0;' > "$HOME/outside/fix.js"; ln -s "$HOME/outside/fix.js" src/linked.js`,
  },
  ...(hasPython
    ? {
        startup: {
          does: "leaves a start-up file that git ignores",
          files: { "py/sitecustomize.py": "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n" },
          shell: "printf 'def price(count):\\n    return count * 11\\n' > py/price.py",
        },
      }
    : {}),
};

interface Story {
  readonly id: string;
  readonly status: string;
  readonly why: string;
}

let repository: TestRepository;
let before: string;
let after: string;
let printed: string;
let stories: readonly Story[];

function remand(...args: string[]): { readonly exit: number | null; readonly out: string } {
  const env = { ...repository.env };
  const ended = spawnSync(process.execPath, [MAIN, ...args], { cwd: repository.root, env, encoding: "utf8" });
  return { exit: ended.status, out: ended.stdout + ended.stderr };
}

const refs = (): string =>
  repository.git("for-each-ref", "refs/heads", "refs/tags").replaceAll(/.*\/remand\/.*\n/g, "");

beforeAll(() => {
  const files = [...Object.keys(WAYS), "honest"].map((id) => [
    `stories/${id}.md`,
    `---\ntitle: ${id}\nstatus: ready\n---\n\nChange it.\n`,
  ]);
  // So many that clean checkouts are mounted, where the machine allows it.
  const assets = Array.from({ length: 1000 }, (_, at) => [`assets/${at}.txt`, `${at}\n`]);
  const more = Object.fromEntries([...files, ...assets]) as Record<string, string>;
  repository = makeRepository({ ...PROJECT, ...more }, "off");
  const { home, root, env } = repository;
  mkdirSync(join(home, "data"));
  write(home, "data/currency.txt", "EUR\n");
  for (const args of [
    ["init", "--quiet"],
    ["add", "."],
    ["commit", "--quiet", "-m", "data"],
  ])
    gitIn(join(home, "data"), env, ...args);
  repository.git("submodule", "--quiet", "add", join(home, "data"), "data");
  repository.git("commit", "--quiet", "-m", "with a submodule");
  repository.git("tag", "v1.0.0");
  repository.write(".env.test", "REGION=eu\n");
  repository.write("node_modules/rates/package.json", '{"type":"module","main":"index.js"}\n');
  repository.write("node_modules/rates/index.js", "export const rate = 10;\n");
  mkdirSync(join(root, "node_modules/.bin"));
  symlinkSync("../rates/index.js", join(root, "node_modules/.bin/rates"));
  mkdirSync(join(home, "agents"));
  for (const [id, { files: written, shell }] of Object.entries(WAYS)) {
    const texts = Object.entries(written).map(([path, text]) => {
      write(home, `files/${id}/${path}`, text);
      return `mkdir -p "$(dirname ${path})"; cp "$HOME/files/${id}/${path}" ${path}`;
    });
    writeFileSync(join(home, "agents", `${id}.sh`), ["set -e", ...texts, shell, ""].join("\n"));
  }
  writeFileSync(join(home, "agents/honest.sh"), "echo '// Prices are in cents.' >> src/price.js\n");
  before = refs();
  printed = remand("run", "--reporter", "default").out;
  after = refs();
  stories = (JSON.parse(remand("status", "--json").out) as { stories: readonly Story[] }).stories;
}, 300_000);
afterAll(() => repository.clear());

const storyOf = (id: string): Story => stories.find((story) => story.id === id)!;
const worktree = (id: string): string => join(repository.root, ".remand/worktrees", id);

describe.each(Object.entries(WAYS))("an agent that leaves a bug and %s", (id, { does }) => {
  test(`(${does}) has its own check green, and is refused`, () => {
    writeFileSync(join(worktree(id), ".env.test"), "REGION=eu\n");
    const own = spawnSync("sh", ["check.sh"], { cwd: worktree(id), env: repository.env, encoding: "utf8" });
    expect(own.status, own.stdout + own.stderr).toBe(0);
    expect(storyOf(id)).toMatchObject({
      status: "escalated",
      why: expect.stringMatching(/^Checks failed 1 time: .*three/),
    });
  });
});

test("an honest change passes: tags, generated code, a submodule, packages and a carried file are there", () => {
  expect(storyOf("honest")).toMatchObject({ status: "accepted" });
});

test("a check that moves a branch moves it in its own checkout alone", () => {
  expect(after).toBe(before);
});

test("paths are those of the project in messages, of the worktree in the evidence, and no checkout is left", () => {
  const evidence = join(repository.root, ".remand/evidence");
  const kept = readdirSync(evidence, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => gunzipSync(readFileSync(join(entry.parentPath, entry.name))).toString("utf8"));
  expect(storyOf("link").why).toContain("wrong in test/price.test.js");
  expect(kept.some((text) => text.includes(`${worktree("link")}/test/price.test.js`))).toBe(true);
  expect([printed, ...kept].filter((text) => text.includes("remand/checkouts"))).toEqual([]);
  const checkouts = join(repository.home, ".local/state/remand/checkouts");
  const folder = join(checkouts, readdirSync(checkouts)[0]!);
  expect(["runs", "slots", "aside"].flatMap((name) => readdirSync(join(folder, name)))).toEqual([]);
});

describe("in the user's own folder", () => {
  test("remand gate judges the files as they are, without what git ignores", () => {
    repository.write("src/price.js", WITH("../hidden/fix.js"));
    repository.write("hidden/.gitignore", "*\n");
    repository.write("hidden/fix.js", NO_FIX);
    const hidden = remand("gate", "checks");
    expect(hidden.exit, hidden.out).toBe(3);
    expect(hidden.out).toContain("three cost thirty: wrong in test/price.test.js");
    repository.write("src/price.js", `${PRICE}// A change that is not committed.\n`);
    const honest = remand("gate", "checks");
    expect(honest.exit, honest.out).toBe(0);
  });

  test("a loop whose check needs an ignored file says so before an agent is paid", () => {
    const ran = join(repository.home, "agent-ran");
    const check = ["--check", "sh check.sh", "--set", "workspace.carry=[]", "--reporter", "default"];
    const { exit, out } = remand("loop", "--goal", "more", ...check, "--", "touch", ran);
    expect(exit, out).toBe(1);
    expect(out).toMatch(/three cost thirty passes in .* and fails in a clean checkout.*\.env\.test/);
    expect(existsSync(ran)).toBe(false);
  });
});
