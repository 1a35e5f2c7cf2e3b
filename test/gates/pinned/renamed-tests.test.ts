import { describe, expect, test } from "vitest";
import { renamedTests } from "../../../src/gates/pinned/match-tests.ts";
import { gateRequest } from "../../contract/gate.ts";
import { fakeWorkspace } from "../../kit/reviewers.ts";

const TESTS = `import pytest
from cart import add


@pytest.mark.parametrize("a, b", [(2, 1), (3, 1)])
def test_adds(a, b):
    assert add(a, b) == a + b
    assert add(b, a) == a + b


def test_is_empty():
    assert add(0, 0) == 0
    assert add(0, 1) == 1
`;

/** Whether a test of the base is recognized in the work's tests, given those that passed. */
async function isKnown(name: string, passed: readonly string[], now = TESTS): Promise<boolean> {
  const files: Readonly<Record<string, string>> = { "base tests/test_cart.py": TESTS, "work more/test_cart.py": now };
  const workspace = fakeWorkspace({
    fileAt: (_story, at, path) => Promise.resolve(files[`${at === "base" ? "base" : "work"} ${path}`] ?? null),
  });
  const ran = { isNamed: true, passed: new Map(passed.map((each) => [each, 1])), failed: new Set<string>(), ran: 3 };
  const changed = ["tests/test_cart.py", "more/test_cart.py"];
  const isRenamed = await renamedTests({ workspace, testPaths: ["**/test_*.py"] }, gateRequest(), changed, ran);
  return isRenamed(name);
}

describe("a test that was moved to another file", () => {
  const moved = ["adds[2-1]", "adds[3-1]", "is_empty"].map((title) => `more/test_cart.py > test_${title}`);

  test.each(["test_is_empty", "test_adds[2-1]", "test_adds[3-1]"])("is recognized: %s", async (title) => {
    expect(await isKnown(`tests/test_cart.py > ${title}`, moved)).toBe(true);
  });

  test("is not recognized if a row was left out", async () => {
    expect(await isKnown("tests/test_cart.py > test_adds[3-1]", [moved[0]!, moved[2]!])).toBe(false);
  });

  test("is not recognized if it asserts something else, or did not pass", async () => {
    const other = TESTS.replaceAll("== a + b", "is not None");
    expect(await isKnown("tests/test_cart.py > test_adds[2-1]", moved, other)).toBe(false);
    expect(await isKnown("tests/test_cart.py > test_is_empty", moved.slice(0, 2))).toBe(false);
  });
});
