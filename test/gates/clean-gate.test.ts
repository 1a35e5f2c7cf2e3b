import { expect, test } from "vitest";
import { inCleanCheckout } from "../../src/gates/clean-gate.ts";
import { treeId } from "../../src/core/events/ids.ts";
import type { Baseline, Gate, GateRequest } from "../../src/ports/gate.ts";
import type { CheckoutRequest, ExperimentRunner } from "../../src/ports/experiment-runner.ts";
import { gateRequest } from "../contract/gate.ts";

const control = { signal: new AbortController().signal, onOutput: () => undefined };

function setUp(baselines: Readonly<Record<string, Baseline>> = {}, leftOut: readonly string[] = []) {
  const opened: CheckoutRequest[] = [];
  let closed = 0;
  const asked: GateRequest[] = [];
  const checkouts = {
    open: (request: CheckoutRequest) => {
      opened.push(request);
      return Promise.resolve({ path: "/clean", close: () => Promise.resolve(void closed++) });
    },
    ignoredPaths: () => Promise.resolve(leftOut),
  } as unknown as ExperimentRunner;
  const gate = {
    name: "checks",
    criteria: () => [],
    run: (request: GateRequest) => {
      asked.push(request);
      return request.path === "/clean" ? Promise.reject(new Error("broken")) : Promise.resolve({});
    },
    baseline: ({ path }: GateRequest) => Promise.resolve(baselines[path]!),
  } as unknown as Gate;
  return { gate: inCleanCheckout(gate, checkouts), opened, asked, closed: () => closed };
}

const request = { ...gateRequest({ path: "/work" }), tree: treeId("a".repeat(40)), commit: "c1", base: "b1" };

test("the files are those of the judged tree, reports name the author's folder, and an error leaves no checkout", async () => {
  const { gate, opened, asked, closed } = setUp();
  await expect(gate.run(request, control)).rejects.toThrow("broken");
  expect(opened).toMatchObject([{ commit: "c1", tree: request.tree, base: "b1" }]);
  expect(asked).toMatchObject([{ path: "/clean", workedIn: "/work" }]);
  expect(closed()).toBe(1);
});

test("a request with a clean checkout, or without a tree, makes none", async () => {
  const { gate, opened, asked } = setUp();
  await gate.run({ ...request, path: "/bench", workedIn: "/work" }, control);
  await gate.run({ ...request, tree: treeId("") }, control);
  expect(opened).toEqual([]);
  expect(asked).toMatchObject([{ path: "/bench" }, { path: "/work" }]);
});

test("a test that passes before the work only with ignored files is reported", async () => {
  const clean = { failing: ["test/a.test.js#one", "test/a.test.js#two"], flaky: [] };
  const work = { failing: ["test/a.test.js#one"], flaky: [] };
  await expect(
    setUp({ "/clean": clean, "/work": work }, ["dist"]).gate.baseline!(request, control),
  ).rejects.toMatchObject({
    code: "workspace-broken",
    message:
      "test/a.test.js#two passes in /work and fails in a clean checkout, where what git ignores is not there: dist",
  });
  const same = setUp({ "/clean": work, "/work": work }, ["dist"]);
  expect(await same.gate.baseline!(request, control)).toBe(work);
  // Without ignored files the base does not run again.
  expect(await setUp({ "/clean": clean }).gate.baseline!(request, control)).toBe(clean);
});

test("a pass shows nothing if the run changed test files, unless the checks change them at the base too", async () => {
  const written = ["test/a.test.js", "src/a.js", "src/b.rs", "src/c.rs"];
  const text = (path: string): string => (path === "src/b.rs" ? "#[cfg(test)]\nmod tests {\n}\n" : "fn main() {}\n");
  const checkouts = {
    open: () =>
      Promise.resolve({
        path: "/clean",
        text,
        writtenPaths: () => Promise.resolve(written),
        close: () => Promise.resolve(),
      }),
  } as unknown as ExperimentRunner;
  const run = { ended: ["test"], ranTests: ["test"], notLoaded: [] };
  const passing = {
    name: "checks",
    criteria: () => [],
    run: () => Promise.resolve({ gate: "checks", result: "pass", summary: "checks: pass" }),
    baseline: () => Promise.resolve({ failing: [], flaky: [], run }),
  } as unknown as Gate;
  const gate = inCleanCheckout(passing, checkouts, { testPaths: ["test/**"], oracle: [], product: [] });
  expect(await gate.run(request, control)).toMatchObject({
    result: "inconclusive",
    summary: "checks: inconclusive (test files were changed while the checks ran: test/a.test.js, src/b.rs)",
  });
  const seen = await gate.baseline!(request, control);
  expect(seen.run?.written).toEqual(["test/a.test.js", "src/b.rs"]);
  expect(await gate.run({ ...request, baseRun: seen.run! }, control)).toMatchObject({ result: "pass" });
});
