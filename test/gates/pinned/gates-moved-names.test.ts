import { expect, test } from "vitest";
import { movedNames } from "../../../src/gates/pinned/new-tests.ts";
import { gateRequest } from "../../contract/gate.ts";
import { fakeWorkspace } from "../../kit/reviewers.ts";

const FILES: Readonly<Record<string, readonly [base: string | null, work: string | null]>> = {
  "src/cart.js": [
    "export const add = 1;\nexport const total = 2;\n",
    "export const sum = 1;\nexport const total = 2;\n",
  ],
  "src/old.js": ["export const kept = 1;\n", null],
  "mathutils.py": [
    "def ceil(x):\n    return x\n",
    "from math import ceil as _ceil\n\n\ndef ceil_to(x):\n    return x\n",
  ],
};

test("a text that mentions what the work moved is recognized, even in color", async () => {
  const workspace = fakeWorkspace({
    fileAt: (_story, at, path) => Promise.resolve(FILES[path]?.[at === "base" ? 0 : 1] ?? null),
  });
  const moved = await movedNames({ workspace }, gateRequest(), Object.keys(FILES));
  expect(moved.someIn("SyntaxError: no export named 'add'")).toBe(true);
  expect(moved.someIn("SyntaxError: no export named \u001B[31madd\u001B[39m")).toBe(true);
  expect(moved.someIn("Cannot find \u001B[2msrc/\u001B[22mold.js")).toBe(true);
  // The name is still used in that file, but no longer defined there.
  expect(moved.someIn("ImportError: cannot import name 'ceil' from 'mathutils'")).toBe(true);
  expect(moved.someIn("total is not a function")).toBe(false);
  expect(moved.someIn("sum is not a function")).toBe(false);
});
