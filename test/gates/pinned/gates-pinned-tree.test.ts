import { expect, test } from "vitest";
import { pinnedTree, testFilesAtBase } from "../../../src/gates/pinned/pinned-tree.ts";
import { evidenceId, storyId, treeId } from "../../../src/core/events/ids.ts";
import { suiteResultsText } from "../../../src/core/gates/test-names.ts";
import { gateRequest } from "../../contract/gate.ts";

const request = { ...gateRequest(), base: "base", tree: treeId("work") };

/** Returns the pinned tree for changed files, each with its text at the base and its current one. */
const pinned = (
  files: Readonly<Record<string, readonly [string, string]>>,
  ran: readonly string[],
  commands: readonly string[] = [],
) =>
  pinnedTree(
    {
      workspace: {
        changedPaths: () => Promise.resolve([]),
        fileAt: (_story, at, path) => Promise.resolve(files[path]?.[at === "base" ? 0 : 1] ?? null),
      },
      commands,
      testPaths: ["**/*.test.*"],
      oracle: [],
      product: [],
    },
    { ...request, story: { ...request.story, id: storyId("a") } },
    Object.keys(files),
    ran,
  );

test("a file in which tests passed at the base is the base's, whatever its name", async () => {
  const files = { "all.js": ["test(one)", "test(two)"], "src/cart.js": ["a", "b"] } as const;
  expect(await pinned(files, ["all.js"])).toEqual({ taken: ["all.js"], texts: new Map() });
  expect(await pinned(files, [])).toBeNull();
});

test("a file that also contains the product is not", async () => {
  const inSource = "if (import.meta.vitest) { test(1) }";
  expect(await pinned({ "src/cart.js": [`a\n${inSource}`, `b\n${inSource}`] }, ["src/cart.js"])).toBeNull();
  expect(await pinned({ "cart.py": ["a\n>>> 1\n1\n", "b\n>>> 1\n1\n"] }, ["cart.py"])).toBeNull();
});

test("what a check runs is the base's, separate from tests; what a test runs is what it tests", async () => {
  const files = {
    "scripts/build.sh": ["a", "b"],
    "lib/cart.sh": ["a", "b"],
    "run.test.sh": [". ./lib/cart.sh", ". ./lib/cart.sh\n"],
  } as const;
  expect(await pinned(files, [], ["sh scripts/build.sh && sh run.test.sh"])).toEqual({
    taken: ["scripts/build.sh", "run.test.sh"],
    texts: new Map(),
    steps: ["scripts/build.sh"],
  });
});

test("the base's run tells which files those are", async () => {
  const passed = new Map([
    ["all.js > adds", 1],
    ["all.js > sums", 1],
    ["a check", 1],
  ]);
  const text = suiteResultsText({ isNamed: true, passed, failed: new Set(["src/cart.ts > TS2322"]), ran: 2 });
  const evidence = { read: () => Promise.resolve(text) };
  const baseRun = { ended: [], ranTests: [], notLoaded: [], tests: evidenceId("e1") };
  expect(await testFilesAtBase(evidence, { ...request, baseRun })).toEqual(["all.js"]);
  expect(await testFilesAtBase(evidence, request)).toEqual([]);
});
