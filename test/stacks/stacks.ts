/** A project as people of one stack have it: how it is installed, what its check is, and a change that breaks it. */
export interface Stack {
  readonly name: string;
  /** Programs that must be there; the stack is skipped without them, and the report says so. */
  readonly needs: readonly string[];
  /** Packages of the npm registry that bring such a program. */
  readonly tools?: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  /** What its user runs once after a clone. What git does not ignore of it is committed. */
  readonly install?: string;
  readonly check: string;
  /** More lines of remand.yaml. */
  readonly config?: string;
  readonly broken: Readonly<Record<string, string>>;
  /** What the report of the broken check names. */
  readonly names: string;
}

const NODE_TEST = (path: string, name = "adds"): string =>
  `import test from "node:test";\nimport assert from "node:assert/strict";\nimport { add } from "${path}";\ntest("${name}", () => assert.equal(add(1, 2), 3));\n`;
const ADD = 'import isNumber from "is-number";\nexport const add = (a, b) => (isNumber(a) ? a + b : 0);\n';
const BROKEN_ADD = ADD.replace("a + b", "a - b");
const PACKAGE = (more: object): string => `${JSON.stringify({ type: "module", private: true, ...more }, null, 2)}\n`;
const MODULES = "node_modules/\n";

/** Two packages, one of which uses the other. */
const WORKSPACE = (dependency: string): Readonly<Record<string, string>> => ({
  ".gitignore": MODULES,
  "packages/math/package.json": PACKAGE({
    name: "math",
    version: "1.0.0",
    exports: "./index.js",
    dependencies: { "is-number": "7.0.0" },
  }),
  "packages/math/index.js": ADD,
  "packages/app/package.json": PACKAGE({
    name: "app",
    version: "1.0.0",
    scripts: { test: "node --test" },
    dependencies: { math: dependency },
  }),
  "packages/app/app.test.js": NODE_TEST("math"),
});
const BROKEN_MATH = { "packages/math/index.js": BROKEN_ADD };

const PYTHON = {
  "pyproject.toml":
    '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "shop"\nversion = "0.1.0"\n[tool.setuptools.packages.find]\nwhere = ["src"]\n',
  "src/shop/__init__.py": "def add(a, b):\n    return a + b\n",
  "tests/test_shop.py":
    "import unittest\nfrom shop import add\n\n\nclass Adds(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(add(1, 2), 3)\n",
};
const BROKEN_PYTHON = { "src/shop/__init__.py": "def add(a, b):\n    return a - b\n" };

const GO_ADD = (sign: string): string => `package math\n\nfunc Add(a, b int) int { return a ${sign} b }\n`;
const GO_TEST =
  'package math\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(Add(1, 2))\n\t}\n}\n';
const RUST = (sign: string): string => `pub fn add(a: i32, b: i32) -> i32 { a ${sign} b }\n`;

export const STACKS: readonly Stack[] = [
  {
    name: "npm",
    needs: ["npm"],
    files: {
      ".gitignore": MODULES,
      "package.json": PACKAGE({ scripts: { test: "node --test" }, dependencies: { "is-number": "7.0.0" } }),
      "add.js": ADD,
      "add.test.js": NODE_TEST("./add.js"),
    },
    install: "npm install --no-audit --no-fund --silent",
    check: "npm test",
    broken: { "add.js": BROKEN_ADD },
    names: "adds",
  },
  {
    name: "pnpm workspace",
    needs: ["pnpm"],
    tools: ["pnpm@9"],
    files: {
      ...WORKSPACE("workspace:*"),
      "package.json": PACKAGE({ scripts: { test: "pnpm -r test" } }),
      "pnpm-workspace.yaml": "packages:\n  - packages/*\n",
    },
    install: "pnpm install --silent",
    check: "pnpm test",
    broken: BROKEN_MATH,
    names: "adds",
  },
  {
    name: "yarn",
    needs: ["yarn"],
    tools: ["yarn@1"],
    files: { ...WORKSPACE("1.0.0"), "package.json": PACKAGE({ workspaces: ["packages/*"] }) },
    install: "yarn install --silent",
    check: "yarn workspace app test",
    broken: BROKEN_MATH,
    names: "adds",
  },
  {
    name: "bun",
    needs: ["bun"],
    tools: ["bun@1"],
    files: {
      ".gitignore": MODULES,
      "package.json": PACKAGE({ dependencies: { "is-number": "7.0.0" } }),
      "add.js": ADD,
      "add.test.js":
        'import { expect, test } from "bun:test";\nimport { add } from "./add.js";\ntest("adds", () => expect(add(1, 2)).toBe(3));\n',
    },
    install: "bun install --silent",
    check: "bun test",
    broken: { "add.js": BROKEN_ADD },
    names: "adds",
  },
  {
    name: "uv",
    needs: ["uv"],
    files: { ...PYTHON, ".gitignore": ".venv/\n*.egg-info/\n" },
    install: "uv sync --offline",
    check: "uv run --offline python -m unittest discover -s tests",
    broken: BROKEN_PYTHON,
    names: "test_adds",
  },
  {
    name: "poetry",
    needs: ["poetry"],
    files: {
      ".gitignore": ".venv/\n",
      "poetry.toml": "[virtualenvs]\nin-project = true\n",
      "pyproject.toml":
        '[tool.poetry]\nname = "shop"\nversion = "0.1.0"\ndescription = ""\nauthors = []\npackages = [{ include = "shop", from = "src" }]\n[tool.poetry.dependencies]\npython = ">=3.9"\n[build-system]\nrequires = ["poetry-core"]\nbuild-backend = "poetry.core.masonry.api"\n',
      "src/shop/__init__.py": PYTHON["src/shop/__init__.py"],
      "tests/test_shop.py": PYTHON["tests/test_shop.py"],
    },
    install: "poetry install --quiet --no-interaction",
    check: "poetry run python -m unittest discover -s tests",
    broken: BROKEN_PYTHON,
    names: "test_adds",
  },
  {
    name: "a plain .venv with an editable install",
    needs: ["python3"],
    files: {
      ...PYTHON,
      "setup.py": "from setuptools import setup\n\nsetup()\n",
      ".gitignore": ".venv/\n*.egg-info/\n",
    },
    install: "python3 -m venv .venv && .venv/bin/python setup.py --quiet develop --no-deps",
    check: ".venv/bin/python -m unittest discover -s tests",
    broken: BROKEN_PYTHON,
    names: "test_adds",
  },
  {
    name: "tox",
    needs: ["tox"],
    files: {
      "tox.ini":
        "[tox]\nskipsdist = true\n[testenv]\nsetenv = PYTHONPATH = {toxinidir}/src\ncommands = python -m unittest discover -s tests\n",
      ".gitignore": ".tox/\n",
      "src/shop/__init__.py": PYTHON["src/shop/__init__.py"],
      "tests/test_shop.py": PYTHON["tests/test_shop.py"],
    },
    check: "tox -q",
    broken: BROKEN_PYTHON,
    names: "test_adds",
  },
  {
    name: "Go",
    needs: ["go"],
    files: { "go.mod": "module example.com/math\n\ngo 1.19\n", "math.go": GO_ADD("+"), "math_test.go": GO_TEST },
    check: "go test ./...",
    broken: { "math.go": GO_ADD("-") },
    names: "TestAdds",
  },
  {
    name: "Go with go.work",
    needs: ["go"],
    files: {
      "go.work": "go 1.19\n\nuse (\n\t./math\n\t./app\n)\n",
      "math/go.mod": "module example.com/math\n\ngo 1.19\n",
      "math/math.go": GO_ADD("+"),
      "app/go.mod": "module example.com/app\n\ngo 1.19\n",
      "app/app_test.go":
        'package app\n\nimport (\n\t"testing"\n\n\t"example.com/math"\n)\n\nfunc TestAdds(t *testing.T) {\n\tif math.Add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n',
    },
    check: "go test ./app/... ./math/...",
    broken: { "math/math.go": GO_ADD("-") },
    names: "TestAdds",
  },
  {
    name: "Cargo workspace",
    needs: ["cargo"],
    files: {
      ".gitignore": "target/\n",
      "Cargo.toml": '[workspace]\nmembers = ["math", "app"]\nresolver = "2"\n',
      "math/Cargo.toml": '[package]\nname = "math"\nversion = "0.1.0"\nedition = "2021"\n',
      "math/src/lib.rs": RUST("+"),
      "app/Cargo.toml":
        '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nmath = { path = "../math" }\n',
      "app/src/lib.rs":
        "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() { assert_eq!(math::add(1, 2), 3); }\n}\n",
    },
    install: "cargo build --quiet --offline",
    check: "cargo test -q --offline",
    broken: { "math/src/lib.rs": RUST("-") },
    names: "adds",
  },
  {
    name: "make",
    needs: ["make", "cc"],
    files: {
      ".gitignore": "*.o\ntest-add\n",
      Makefile: "test: test-add\n\t./test-add\n\ntest-add: add.o test-add.o\n\t$(CC) -o $@ $^\n",
      "add.c": "int add(int a, int b) { return a + b; }\n",
      "test-add.c":
        '#include <stdio.h>\nint add(int, int);\nint main(void) {\n  if (add(1, 2) != 3) { puts("not ok 1 - adds\\n1..1"); return 1; }\n  puts("ok 1 - adds\\n1..1");\n  return 0;\n}\n',
    },
    install: "make --silent test",
    check: "make test",
    broken: { "add.c": "int add(int a, int b) { return a - b; }\n" },
    names: "adds",
  },
  {
    name: "large files (LFS)",
    needs: ["git-lfs"],
    files: {
      ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
      "package.json": PACKAGE({ scripts: { test: "node --test" } }),
      "rate.bin": "2\n",
      "add.js":
        'import { readFileSync } from "node:fs";\nexport const add = (a, b) => a * +readFileSync("rate.bin", "utf8") + b - a;\n',
      "add.test.js": NODE_TEST("./add.js"),
    },
    install: "git lfs install --local && git rm -q --cached rate.bin && git add rate.bin",
    check: "npm test",
    broken: { "add.js": "export const add = (a, b) => a - b;\n" },
    names: "adds",
  },
  {
    name: "code made in pretest",
    needs: ["npm"],
    files: {
      ".gitignore": "made/\n",
      "package.json": PACKAGE({ scripts: { pretest: "node make.js", test: "node --test" } }),
      "make.js":
        'import { mkdirSync, readFileSync, writeFileSync } from "node:fs";\nmkdirSync("made", { recursive: true });\nwriteFileSync("made/add.js", `export const add = (a, b) => a ${readFileSync("sign.txt", "utf8").trim()} b;\\n`);\n',
      "sign.txt": "+\n",
      "add.test.js": NODE_TEST("./made/add.js"),
    },
    install: "npm test",
    check: "npm test",
    broken: { "sign.txt": "-\n" },
    names: "adds",
  },
  {
    name: "snapshots",
    needs: ["npm"],
    files: {
      ".gitignore": MODULES,
      "package.json": PACKAGE({ scripts: { test: "vitest run" }, devDependencies: { vitest: "4" } }),
      "add.js": "export const add = (a, b) => a + b;\n",
      "add.test.js":
        'import { expect, test } from "vitest";\nimport { add } from "./add.js";\ntest("adds", () => expect(add(1, 2)).toMatchSnapshot());\n',
    },
    install: "npm install --no-audit --no-fund --silent && npx vitest run --update",
    check: "npm test",
    broken: { "add.js": "export const add = (a, b) => a - b;\n" },
    names: "adds",
  },
  {
    name: "tests in the sources",
    needs: ["npm"],
    files: {
      ".gitignore": MODULES,
      "package.json": PACKAGE({ scripts: { test: "vitest run" }, devDependencies: { vitest: "4" } }),
      "vitest.config.js": 'export default { test: { includeSource: ["src/**/*.js"] } };\n',
      "src/add.js":
        'export const add = (a, b) => a + b;\nif (import.meta.vitest) {\n  const { expect, test } = import.meta.vitest;\n  test("adds", () => expect(add(1, 2)).toBe(3));\n}\n',
    },
    install: "npm install --no-audit --no-fund --silent",
    check: "npm test",
    broken: {
      "src/add.js":
        'export const add = (a, b) => a - b;\nif (import.meta.vitest) {\n  const { expect, test } = import.meta.vitest;\n  test("adds", () => expect(add(1, 2)).toBe(3));\n}\n',
    },
    names: "adds",
  },
  {
    name: "docker compose by {checkout} (a stand-in for docker)",
    needs: ["npm"],
    files: {
      "package.json": PACKAGE({ scripts: { test: "node --test" } }),
      "add.js": "export const add = (a, b) => a + b;\n",
      "add.test.js": NODE_TEST("./add.js"),
      "tools/docker":
        '#!/bin/sh\n# compose run --rm -v <checkout>:/app app <command>\n[ "$1 $2 $3 $4" = "compose run --rm -v" ] || exit 9\ncd "${5%:/app}" || exit 9\nshift 6\nexec "$@"\n',
    },
    install: "chmod +x tools/docker && git update-index --chmod=+x tools/docker",
    check: "npm test",
    config: "environments: { app: { run: 'sh tools/docker compose run --rm -v {checkout}:/app app' } }\n",
    broken: { "add.js": "export const add = (a, b) => a - b;\n" },
    names: "adds",
  },
  {
    name: "Maven",
    needs: ["mvn"],
    files: {
      ".gitignore": "target/\n",
      "pom.xml":
        '<project xmlns="http://maven.apache.org/POM/4.0.0">\n  <modelVersion>4.0.0</modelVersion>\n  <groupId>example</groupId><artifactId>math</artifactId><version>1</version>\n  <properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target></properties>\n  <dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency></dependencies>\n</project>\n',
      "src/main/java/Math2.java": "public class Math2 { public static int add(int a, int b) { return a + b; } }\n",
      "src/test/java/Math2Test.java":
        "import org.junit.*;\npublic class Math2Test { @Test public void adds() { Assert.assertEquals(3, Math2.add(1, 2)); } }\n",
    },
    install: "mvn -q -o test",
    check: "mvn -q -o test",
    broken: {
      "src/main/java/Math2.java": "public class Math2 { public static int add(int a, int b) { return a - b; } }\n",
    },
    names: "adds",
  },
  {
    name: "Gradle",
    needs: ["gradle"],
    files: {
      ".gitignore": ".gradle/\nbuild/\n",
      "settings.gradle": "rootProject.name = 'math'\n",
      "build.gradle":
        "plugins { id 'java' }\nrepositories { mavenCentral() }\ndependencies { testImplementation 'junit:junit:4.13.2' }\n",
      "src/main/java/Math2.java": "public class Math2 { public static int add(int a, int b) { return a + b; } }\n",
      "src/test/java/Math2Test.java":
        "import org.junit.*;\npublic class Math2Test { @Test public void adds() { Assert.assertEquals(3, Math2.add(1, 2)); } }\n",
    },
    install: "gradle --offline --quiet test",
    check: "gradle --offline test",
    broken: {
      "src/main/java/Math2.java": "public class Math2 { public static int add(int a, int b) { return a - b; } }\n",
    },
    names: "adds",
  },
];
