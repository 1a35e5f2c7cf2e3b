/*
 * A loop works in the user's own folder, where the installed packages are. What the agent does to them decides nothing:
 * checks run with the packages as they were before it worked, or with what the engine installs by the lockfile.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { makeRepository, write, type TestRepository } from "../../kit/git-repository.ts";
import { testInFull } from "../../sampled.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

const LOCKFILE = (packages: object): string =>
  `${JSON.stringify({ name: "shop", version: "1.0.0", lockfileVersion: 3, requires: true, packages }, null, 2)}\n`;
const MANIFEST = { name: "shop", version: "1.0.0", type: "module", scripts: { test: "node --test" } };
const PROJECT = {
  ".gitignore": "node_modules/\n",
  "package.json": `${JSON.stringify(MANIFEST)}\n`,
  "package-lock.json": LOCKFILE({ "": { name: "shop", version: "1.0.0" } }),
  "src/price.js": "export const price = (count, rate) => count * rate + 1;\n",
  "test/price.test.js": `import assert from "node:assert/strict";
import test from "node:test";
import { rate } from "rates";
import { price } from "../src/price.js";

test("three cost thirty", () => assert.equal(price(3, rate), 30));
`,
};

/** A project with a package installed, and an agent that takes one step in each attempt. */
function shop(...steps: string[]): TestRepository {
  const repository = makeRepository(PROJECT);
  onTestFinished(() => repository.clear());
  repository.write("node_modules/rates/package.json", '{"type":"module","main":"index.js"}\n');
  repository.write("node_modules/rates/index.js", "export const rate = 10;\n");
  mkdirSync(join(repository.root, "node_modules/.bin"));
  steps.forEach((step, at) => write(repository.home, `steps/${at + 1}.sh`, `set -e\n${step}\n`));
  write(
    repository.home,
    "agent.sh",
    'n=$(cat "$HOME/step" 2> /dev/null || echo 0); n=$((n + 1)); echo $n > "$HOME/step"; sh "$HOME/steps/$n.sh"\n',
  );
  return repository;
}

function loop(
  { root, env, home }: TestRepository,
  failures: number,
  check = "npm test",
): { exit: number | null; out: string } {
  const settings = [
    "--set",
    `limits.failures=${failures}`,
    "--set",
    "limits.backoff=1ms",
    "--set",
    "blame.prove=false",
  ];
  const args = ["loop", "--check", check, ...settings, "--reporter", "default", "--", "sh", join(home, "agent.sh")];
  const ended = spawnSync(process.execPath, [MAIN, ...args], { cwd: root, env, encoding: "utf8" });
  return { exit: ended.status, out: ended.stdout + ended.stderr };
}

const ownCheck = ({ root, env }: TestRepository): string =>
  `(cd ${root} && env -i PATH="${env["PATH"]}" HOME="$HOME" npm test > /dev/null)`;

const EDIT_PACKAGE = "echo 'export const rate = 29 / 3;' > node_modules/rates/index.js";
const ADD_PROGRAM =
  "echo 'export const rate = 10;' > node_modules/rates/index.js; printf '#!/bin/sh\\nexit 0\\n' > node_modules/.bin/node; chmod +x node_modules/.bin/node";
const FIX = "sed -i.bak 's/ + 1//' src/price.js; rm src/price.js.bak";

test("packages that the agent edits or adds decide nothing, and its honest change passes", () => {
  const repository = shop("", "", "");
  const steps = [EDIT_PACKAGE, ADD_PROGRAM, `rm node_modules/.bin/node; ${FIX}`];
  // Each way is green where the agent works.
  steps.forEach((step, at) =>
    write(
      repository.home,
      `steps/${at + 1}.sh`,
      `set -e\n${step}\necho "// ${at}" >> src/price.js\n${ownCheck(repository)}\necho ${at + 1} >> "$HOME/green"\n`,
    ),
  );
  const { exit, out } = loop(repository, 3);
  expect(readFileSync(join(repository.home, "green"), "utf8")).toBe("1\n2\n3\n");
  expect(exit, out).toBe(0);
  expect(out.match(/three cost thirty/g)?.length, out).toBeGreaterThanOrEqual(2);
  expect(out).toContain("the installed packages in");
  // Nothing is under way: no record is left, and the copy is there for the next loop.
  const state = join(repository.home, ".local/state/remand");
  expect(readdirSync(join(state, "starts"))).toEqual([]);
  expect(existsSync(join(state, "dependencies"))).toBe(true);
});

test("a dependency that is added to manifest and lockfile is installed by the engine", () => {
  const repository = shop(
    `mkdir -p local/tax
echo '{"name":"tax","version":"1.0.0","type":"module","main":"index.js"}' > local/tax/package.json
echo 'export const tax = 0;' > local/tax/index.js
cat > package.json << 'END'
${JSON.stringify({ ...MANIFEST, dependencies: { rates: "file:local/rates", tax: "file:local/tax" } })}
END
mkdir -p local/rates; cp node_modules/rates/* local/rates/; echo '{"name":"rates","version":"1.0.0","type":"module","main":"index.js"}' > local/rates/package.json
echo 'import { tax } from "tax"; export const price = (count, rate) => count * rate + tax;' > src/price.js
npm install --package-lock-only --ignore-scripts --no-audit --no-fund --silent`,
  );
  const { exit, out } = loop(repository, 1);
  expect(exit, out).toBe(0);
  expect(existsSync(join(repository.root, "node_modules/tax"))).toBe(false);
});

testInFull("after kill -9 a loop goes on with the packages of its start", () => {
  const repository = shop("", "true");
  writeFileSync(join(repository.home, "steps/1.sh"), `${EDIT_PACKAGE}; kill -9 $(ps -o ppid= $PPID); sleep 9\n`);
  writeFileSync(join(repository.home, "steps/2.sh"), "echo '// more' >> src/price.js\n");
  const killed = loop(repository, 1);
  expect(killed.exit, killed.out).toBeNull();
  const { exit, out } = loop(repository, 1);
  expect(exit, out).not.toBe(0);
  expect(out).toContain("three cost thirty");
  expect(out).toContain("the installed packages in");
});

const GO = spawnSync("sh", ["-c", "go env GOCACHE"], { encoding: "utf8" });

test("settings that the agent leaves in HOME decide nothing: go env -w, ~/.npmrc", () => {
  if (GO.status !== 0) return console.warn("NOT RUN: there is no go here");
  const repository = makeRepository({
    "go.mod": "module shop\n\ngo 1.18\n",
    "price.go": "package shop\n\nfunc Price(count int) int { return count*10 + 1 }\n",
    "price_test.go":
      'package shop\n\nimport "testing"\n\nfunc TestThree(t *testing.T) {\n\tif Price(3) != 30 {\n\t\tt.Fatal("three cost", Price(3))\n\t}\n}\n',
    "package.json": '{ "scripts": { "test": "go test ./..." } }\n',
  });
  onTestFinished(() => repository.clear());
  const own = `env -i PATH="$PATH" HOME="$HOME" GOCACHE=${GO.stdout.trim()}`;
  const steps = [
    `go env -w 'GOFLAGS=-run=^$'; ${own} go test ./...`,
    `go env -u GOFLAGS; echo script-shell=/bin/true > "$HOME/.npmrc"; ${own} npm test`,
    `rm "$HOME/.npmrc"; sed -i.bak 's/ + 1//' price.go; rm price.go.bak; ${own} npm test`,
  ];
  write(
    repository.home,
    "agent.sh",
    'set -e; n=$(cat "$HOME/step" 2> /dev/null || echo 0); n=$((n + 1)); echo $n > "$HOME/step"; echo "// $n" >> price.go; sh -e "$HOME/steps/$n.sh" > /dev/null; echo $n >> "$HOME/green"\n',
  );
  steps.forEach((step, at) => write(repository.home, `steps/${at + 1}.sh`, step));
  const env = { ...repository.env, GOCACHE: GO.stdout.trim() };
  const { exit, out } = loop({ ...repository, env }, 3, "npm test");
  expect(readFileSync(join(repository.home, "green"), "utf8"), out).toBe("1\n2\n3\n");
  expect(exit, out).toBe(0);
  expect(out.match(/checks ✖/g), out).toHaveLength(2);
});

testInFull("a check that needs a secret of HOME runs with the user's own, and that is said", () => {
  const repository = shop(FIX);
  write(repository.home, ".netrc", "machine example.com\n");
  const { exit, out } = loop(repository, 1, 'test -f "$HOME/.netrc" && npm test');
  expect(exit, out).toBe(0);
  expect(out).toContain(
    "the checks run with your own HOME and without a sandbox, because they fail in a HOME without .netrc",
  );
});
