import { describe, expect, test } from "vitest";
import { spliceInlineTests } from "../../../src/parse/tests/doc-tests.ts";

const RUST = `pub fn add(a: i32, b: i32) -> i32 { a - b }

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn adds() { assert_eq!(add(1, 2), 3, "not }} {} {{"); }
    // a comment with a brace }
    fn c() -> char { '}' }
}

pub fn last() -> &'static str { r#"}"# }
`;

describe("source files that hold tests", () => {
  test("a Rust test module comes from the base, the code around it from the work", () => {
    const work = RUST.replace("a - b", "a * b").replace("assert_eq!(add(1, 2), 3,", "assert!(true,");
    expect(spliceInlineTests("src/lib.rs", RUST, work)).toBe(RUST.replace("a - b", "a * b"));
  });

  test("a deleted module is restored, and an added one is removed", () => {
    const product = "pub fn add(a: i32, b: i32) -> i32 { a - b }\n";
    expect(spliceInlineTests("src/lib.rs", RUST, product)).toContain("assert_eq!(add(1, 2), 3");
    expect(spliceInlineTests("src/lib.rs", product, RUST)).not.toContain("assert_eq!");
  });

  test("Vitest's tests in a source file come from the base", () => {
    const base = `export const one = () => 2;\nif (import.meta.vitest) {\n  const { test, expect } = import.meta.vitest;\n  test('a } b', () => { expect(one()).toBe(1); });\n}\n`;
    const work = base
      .replace("toBe(1)", "toBe(2)")
      .replace("export const one", "export const two = 2;\nexport const one");
    expect(spliceInlineTests("src/one.ts", base, work)).toBe(
      base.replace("export const one", "export const two = 2;\nexport const one"),
    );
  });

  test("a file without tests belongs to the product", () => {
    expect(spliceInlineTests("src/a.ts", "export const a = 1;\n", "export const a = 2;\n")).toBeNull();
    expect(spliceInlineTests("src/a.rs", "fn a() {}\n", "fn b() {}\n")).toBeNull();
  });

  test("a region that is never closed ends with the file", () => {
    expect(
      spliceInlineTests("src/a.rs", "fn a() {}\n#[cfg(test)]\nmod t {\n", "fn b() {}\n#[cfg(test)]\nmod t { x\n"),
    ).toBe("fn b() {}\n#[cfg(test)]\nmod t {\n");
  });
});
