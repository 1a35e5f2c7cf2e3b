import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gateRequest } from "../../contract/gate.ts";
import { checksGateFixture } from "../../kit/checks-gate.ts";

const bench = checksGateFixture();
const control = { signal: new AbortController().signal, onOutput: () => {} };

function write(path: string, text: string): void {
  const file = join(bench.folder(), path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
}

const cart = (body: string): string =>
  `import test from "node:test";
import { remove } from "../src/cart.js";
test("adds", () => {});
test("removes", () => { ${body} });
`;

function project(): void {
  write("package.json", '{"type":"module","scripts":{"test":"node --test"}}');
  write("src/cart.js", 'export function remove() {\n  throw new Error("no such item");\n}\n');
  write("test/cart.test.js", cart("remove();"));
}

test("a failing test is known by its own file, wherever its error was thrown", async () => {
  project();
  const { identities, runs } = await bench.judge([{ name: "unit", run: "npm test" }]);
  expect(identities?.failing).toEqual(["test/cart.test.js > removes"]);
  expect(runs).toMatchObject([{ check: "unit", names: "all", result: "fail" }]);
});

test("a test that passes now is named as passing, although the command does not print its file", async () => {
  project();
  const gate = bench.gate([{ name: "unit", run: "npm test" }]);
  const base = await gate.baseline!(gateRequest({ path: bench.folder() }), control);
  expect(base.failing).toEqual(["test/cart.test.js > removes"]);
  expect(base.run).toMatchObject({ names: { unit: "all" } });
  write("src/cart.js", "export function remove() {}\n");
  const atBase = { failing: base.failing, flaky: [], known: [], targets: [] };
  const judged = await gate.run(gateRequest({ path: bench.folder(), atBase, baseRun: base.run! }), control);
  expect(judged.result).toBe("pass");
  expect(judged.identities?.passing).toEqual(["test/cart.test.js > removes"]);
});

test("a test after the one at which the check stopped at the base does not count as passed there", async () => {
  project();
  const files = "node --test test/cart.test.js && node --test test/later.test.js";
  write("package.json", JSON.stringify({ type: "module", scripts: { test: files } }));
  const later = 'import test from "node:test";\ntest("comes later", () => { throw new Error("wrong"); });\n';
  write("test/later.test.js", later);
  const fileAt = (_story: string, _at: string, path: string) =>
    Promise.resolve(path === "test/later.test.js" ? later : cart("remove();"));
  const gate = bench.gate([{ name: "unit", run: "npm test" }], { workspace: { fileAt } });
  const base = await gate.baseline!(gateRequest({ path: bench.folder() }), control);
  expect(base.failing).toEqual(["test/cart.test.js > removes"]);
  write("src/cart.js", "export function remove() {}\n");
  const atBase = { failing: base.failing, flaky: [], known: [], targets: [] };
  const judged = await gate.run(gateRequest({ path: bench.folder(), atBase, baseRun: base.run! }), control);
  expect(judged.identities).toMatchObject({ failing: ["test/later.test.js > comes later"], passedAtBase: [] });
});

test("a check that the reporters break runs without them, at the base and later", async () => {
  project();
  write("src/cart.js", "export function remove() {}\n");
  write("run.mjs", "process.exit(process.env.NODE_OPTIONS === undefined ? 0 : 3);\n");
  const gate = bench.gate([{ name: "unit", run: "node run.mjs" }]);
  const base = await gate.baseline!(gateRequest({ path: bench.folder() }), control);
  expect(base).toMatchObject({ failing: [], flaky: [], run: { unreported: ["unit"], names: { unit: "none" } } });
  const request = gateRequest({ path: bench.folder(), baseRun: base.run! });
  expect((await gate.run(request, control)).result).toBe("pass");
  const { unreported: _, ...forgotten } = base.run!;
  expect((await gate.run({ ...request, baseRun: forgotten }, control)).result).toBe("fail");
});

test("a failure that a bare run prints elsewhere is not flaky", async () => {
  project();
  write("test/order.test.js", 'import test from "node:test";\ntest("ships", () => {});\n');
  const gate = bench.gate([{ name: "unit", run: "npm test" }]);
  const base = await gate.baseline!(gateRequest({ path: bench.folder() }), control);
  expect([base.failing, base.flaky]).toEqual([["test/cart.test.js > removes"], []]);
});

test("a runner that is ended early names no test as passed", async () => {
  project();
  write("test/cart.test.js", cart("process.kill(process.ppid, 'SIGKILL');"));
  const judged = await bench.judge([{ name: "unit", run: "node --test || exit 1" }]);
  expect(judged.result).not.toBe("pass");
  expect(judged.runs![0]!.names).not.toBe("all");
});

test("the tests of a runner that a test starts are not the project's", async () => {
  project();
  write("fixture/inner.test.mjs", 'import test from "node:test";\ntest("inner", () => {});\n');
  write(
    "test/cart.test.js",
    `import test from "node:test";
import { spawnSync } from "node:child_process";
test("starts another", () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout } = spawnSync("node", ["--test", "fixture/inner.test.mjs"], { env, encoding: "utf8" });
  if (status !== 0 || !stdout.includes("inner")) throw new Error(stdout);
});
`,
  );
  const gate = bench.gate([{ name: "unit", run: "node --test test/" }]);
  const atBase = {
    failing: ["test/cart.test.js > starts another", "tests > inner"],
    flaky: [],
    known: [],
    targets: [],
  };
  const judged = await gate.run(gateRequest({ path: bench.folder(), atBase }), control);
  expect([judged.result, judged.identities?.passing]).toEqual(["pass", ["test/cart.test.js > starts another"]]);
});
