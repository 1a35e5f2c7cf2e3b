import { expect, test } from "vitest";
import { DEFAULTS } from "../../../src/config/defaults.ts";
import { pinningOf } from "../../../src/core/gates/base-tests.ts";

const rules = { testPaths: DEFAULTS.scope.testPaths, oracle: [], product: [], named: new Set(["scripts/check.sh"]) };

test.each([
  ["test/cart.test.js", "whole"],
  ["src/cart.spec.ts", "whole"],
  ["pkg/cart_test.go", "whole"],
  ["tests/fixtures/cart.json", "whole"],
  ["pkg/testdata/cart.golden", "whole"],
  ["src/__snapshots__/cart.snap", "whole"],
  ["vitest.config.ts", "whole"],
  [".mocharc.yml", "whole"],
  ["conftest.py", "whole"],
  ["scripts/check.sh", "whole"],
  ["package.json", "merged"],
  ["packages/a/package.json", "merged"],
  ["pyproject.toml", "merged"],
  ["src/lib.rs", "spliced"],
  ["src/cart.ts", "spliced"],
  ["src/cart.py", "spliced"],
  ["pytest.toml", "whole"],
  ["extra-1.0.dist-info/entry_points.txt", "whole"],
  ["src/cart.go", "product"],
  ["vite.config.ts", "whole"],
  ["tsconfig.json", "whole"],
  [".babelrc", "whole"],
  ["pytest.ini", "whole"],
  ["src/app.config.ts", "spliced"],
  ["scripts/other.sh", "product"],
  ["README.md", "product"],
])("%s is pinned as %s", (path, pinning) => {
  expect(pinningOf(path, rules)).toBe(pinning);
});

test("the configuration overrides the defaults", () => {
  expect(pinningOf("data/expected.json", { ...rules, oracle: ["data/**"] })).toBe("whole");
  expect(pinningOf("src/spec/parser.c", rules)).toBe("whole");
  expect(pinningOf("src/spec/parser.c", { ...rules, product: ["src/spec/**"] })).toBe("product");
});
