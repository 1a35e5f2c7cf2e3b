import { expect, test } from "vitest";
import { matchesTest } from "../../../src/core/gates/base-failures.ts";

test.each([
  ["cart/cart_test.go > TestX", true],
  ["cart_test.go > TestX", true],
  ["cart_test.go", true],
  ["TestX", true],
  ["cart/*", true],
  ["order_test.go", false],
  ["art_test.go > TestX", false],
])("%s names a test of cart/cart_test.go: %s", (pattern, isMeant) =>
  expect(matchesTest("cart/cart_test.go > TestX", pattern)).toBe(isMeant),
);
