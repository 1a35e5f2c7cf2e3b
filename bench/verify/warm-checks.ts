import { spawnSync } from "node:child_process";
import { createExperimentRunner } from "../../src/adapters/git/experiment-runner.ts";
import { runProcess } from "../../src/adapters/process/run-process.ts";
import { median, type BenchResult } from "../bench-result.ts";
import { makeProject, type Files, type Project } from "./project.ts";

interface Stack {
  readonly name: string;
  /** A program that the stack requires. Without it the stack is skipped, with a notice. */
  readonly needs: string;
  readonly check: string;
  readonly files: Files;
  /** The source file that the work changes. */
  readonly changed: (version: number) => Files;
}

const PARTS = 40;
const numbers = Array.from({ length: PARTS }, (_, at) => at);
const each = (path: (at: number) => string, text: (at: number) => string): Files =>
  Object.fromEntries(numbers.map((at) => [path(at), text(at)]));

const STACKS: readonly Stack[] = [
  {
    name: "Node",
    needs: "node",
    check: "node --test",
    files: {
      "package.json": '{ "type": "module", "private": true }\n',
      ...each(
        (at) => `src/part${at}.js`,
        (at) => `export const value = () => ${at};\n`,
      ),
      ...each(
        (at) => `test/part${at}.test.js`,
        (at) =>
          `import test from "node:test";\nimport assert from "node:assert";\nimport { value } from "../src/part${at}.js";\ntest("part ${at}", () => assert.equal(value(), ${at}));\n`,
      ),
    },
    changed: (version) => ({ "src/part0.js": `export const value = () => 0; // ${version}\n` }),
  },
  {
    name: "Python",
    needs: "python3",
    check: "python3 -m unittest discover -s tests -t .",
    files: {
      "tests/__init__.py": "",
      "app/__init__.py": "",
      ...each(
        (at) => `app/part${at}.py`,
        (at) => `def value():\n    return sum(range(${at + 200_000}))\n`,
      ),
      ...each(
        (at) => `tests/test_part${at}.py`,
        (at) =>
          `import unittest\nfrom app.part${at} import value\n\nclass Part(unittest.TestCase):\n    def test_value(self):\n        self.assertEqual(value(), sum(range(${at + 200_000})))\n`,
      ),
    },
    changed: (version) => ({ "app/part0.py": `def value():\n    return sum(range(200_000))  # ${version}\n` }),
  },
  {
    name: "Go",
    needs: "go",
    check: "go test ./...",
    files: {
      "go.mod": "module example.com/parts\n\ngo 1.19\n",
      ...each(
        (at) => `part${at}/part.go`,
        (at) => `package part${at}\n\nfunc Value() int { return ${at} }\n`,
      ),
      ...each(
        (at) => `part${at}/part_test.go`,
        (at) =>
          `package part${at}\n\nimport "testing"\n\nfunc TestValue(t *testing.T) {\n\tif Value() != ${at} {\n\t\tt.Fatal()\n\t}\n}\n`,
      ),
    },
    changed: (version) => ({
      "part0/part.go": `package part0\n\nfunc Value() int { return ${version} - ${version} }\n`,
    }),
  },
  {
    name: "Rust",
    needs: "cargo",
    check: "cargo test -q --offline",
    files: {
      ".gitignore": "target/\n",
      "Cargo.toml": '[workspace]\nmembers = ["parts/*"]\nresolver = "2"\n',
      ...each(
        (at) => `parts/part${at}/Cargo.toml`,
        (at) => `[package]\nname = "part${at}"\nversion = "0.1.0"\nedition = "2021"\n`,
      ),
      ...each(
        (at) => `parts/part${at}/src/lib.rs`,
        (at) =>
          `pub fn value() -> u32 { ${at} }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn value() { assert_eq!(super::value(), ${at}); }\n}\n`,
      ),
    },
    changed: (version) => ({
      "parts/part0/src/lib.rs": `pub fn value() -> u32 { ${version} - ${version} }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn value() { assert_eq!(super::value(), 0); }\n}\n`,
    }),
  },
];

const TIMES = 3;

/** A check that ran before, after one file changed: in a clean checkout, and in place. */
export async function warmCheckFigures(): Promise<readonly BenchResult[]> {
  const results: BenchResult[] = [];
  for (const stack of STACKS) {
    if (spawnSync("sh", ["-c", `command -v ${stack.needs}`]).status !== 0) {
      console.error(`verify: ${stack.name} is left out, because there is no ${stack.needs}`);
      continue;
    }
    const project = makeProject(stack.files);
    try {
      results.push(await warmCheck(stack, project));
    } finally {
      project.clear();
    }
  }
  return results;
}

async function warmCheck(stack: Stack, project: Project): Promise<BenchResult> {
  const experimentRunner = createExperimentRunner({ ...project, setup: null, share: null });
  const signal = new AbortController().signal;
  const timed = async (cwd: string): Promise<number> => {
    const begin = performance.now();
    const { exitCode, output } = await runProcess({
      command: stack.check,
      cwd,
      env: project.env,
      timeoutMs: 600_000,
      sandbox: null,
    });
    if (exitCode !== 0) throw new Error(`${stack.check} ended with ${exitCode}: ${output}`);
    return performance.now() - begin;
  };
  const clean = async (base: string): Promise<number> => {
    const bench = await experimentRunner.open({ signal, commit: "HEAD", base });
    try {
      return await timed(bench.path);
    } finally {
      await bench.close();
    }
  };
  // Both have built the base before; its second run shows what was reused.
  await timed(project.root);
  await clean("HEAD");
  const [inPlace, inClean]: [number[], number[]] = [[], []];
  for (let version = 1; version <= TIMES; version++) {
    const start = `HEAD~${version - 1}`;
    project.commit(stack.changed(version));
    inPlace.push(await timed(project.root));
    inClean.push(await clean(`${start}~1`));
  }
  const [value, floor] = [median(inClean), median(inPlace)];
  return {
    name: `verify: warm check in a clean checkout, ${stack.name}`,
    value: value / 1000,
    unit: "s",
    ratio: value / floor,
    against: `in place (${(floor / 1000).toFixed(2)} s)`,
    limit: 1.15,
  };
}
