import { describe, expect, test } from "vitest";
import { spliceDocTests } from "../../../src/parse/tests/doc-tests.ts";

const rust = (expected: string, body = "a + b", more = ""): string => `/// Adds.
///
/// \`\`\`
/// assert_eq!(add(1, 2), ${expected});
/// \`\`\`
${more}pub fn add(a: i32, b: i32) -> i32 { ${body} }

/// \`\`\`
/// assert_eq!(one(), 1);
/// \`\`\`
pub fn one() -> i32 { 1 }
`;

const python = (expected: string, body = "a + b"): string =>
  `def add(a, b):\n    """Adds.\n\n    >>> add(1, 2)\n    ${expected}\n\n    More.\n    """\n    return ${body}\n`;

describe("the base's examples in comments replace the work's", () => {
  test("Rust: changed expectations are restored, and the code stays", () => {
    expect(spliceDocTests("src/lib.rs", rust("3"), rust("-1", "a - b"))).toBe(rust("3", "a - b"));
  });

  test("Rust: an added example stays, also next to a changed one", () => {
    const added = "/// ```\n/// assert!(true);\n/// ```\n";
    expect(spliceDocTests("src/lib.rs", rust("3"), rust("3", "a + b", added))).toBeNull();
    expect(spliceDocTests("src/lib.rs", rust("3"), rust("-1", "a - b", added))).toBe(rust("3", "a - b", added));
  });

  test("Python", () => {
    expect(spliceDocTests("add.py", python("3"), python("-1", "a - b"))).toBe(python("3", "a - b"));
    expect(spliceDocTests("add.py", python("3"), python("3", "b + a"))).toBeNull();
  });

  test("a file without examples, and another language", () => {
    expect(spliceDocTests("src/lib.rs", "fn a() {}\n", "fn b() {}\n")).toBeNull();
    expect(spliceDocTests("a.ts", "// >>> 1\n", "// >>> 2\n")).toBeNull();
  });
});
