import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readHunks } from "../../../src/parse/code/failure-material.ts";
import { readGitDiff } from "../../../src/parse/code/git-output.ts";
import { pathIndex, readImports } from "../../../src/parse/code/imports.ts";
import { readWorkspacePackages } from "../../../src/parse/code/workspace-packages.ts";
import { readSymbols } from "../../../src/parse/code/symbols.ts";
import { maskedCode } from "../../../src/parse/code/symbols-mask.ts";
import { filesWithout } from "../../../src/decide/blame/files-without.ts";

const symbols = (path: string, ...lines: string[]): string[] =>
  readSymbols(lines.join("\n"), path).symbols.map(({ name, kind, start, end }) => `${kind} ${name} ${start}-${end}`);

describe("symbols", () => {
  test("JavaScript and TypeScript", () => {
    expect(
      symbols(
        "a.ts",
        "export async function first(",
        "  a: string,",
        "): void {",
        "  if (a) {",
        "  }",
        "}",
        "const LIMIT = 10;",
        "export const arrow = (x) => {",
        "  return x;",
        "};",
        "class Box<T> extends Base {",
        "  #size = 0;",
        "  async get(key: string): Promise<T> {",
        "    call(() => {",
        "    });",
        "  }",
        "}",
        'test.each([1])("adds } {", () => {',
        "  expect(1);",
        "});",
      ),
    ).toEqual([
      "function first 1-6",
      "value LIMIT 7-7",
      "function arrow 8-10",
      "type Box 11-17",
      "function get 13-16",
      "test adds } { 18-20",
    ]);
  });

  test("strings, patterns and comments contain no code", () => {
    const text =
      "const a = /[/{]/; // {\nconst b = `{\n${c}`;\nfunction f() { return '}' + x / y / z; /* { */ }\nconst g = 1;";
    expect(symbols("a.js", text)).toEqual(["value a 1-1", "value b 2-2", "function f 4-4", "value g 5-5"]);
    expect(readSymbols(text, "a.js").names[3]).toEqual(expect.not.arrayContaining(["}"]));
  });

  test("Python, by its indents", () => {
    expect(
      symbols(
        "a.py",
        "LIMIT = 3",
        "",
        "class Cart:",
        '    """def no():',
        '    """',
        "    def total(self,",
        "              x):",
        "        # def hidden():",
        "        return 1",
        "",
        "async def later():",
        "    pass",
        "def test_total():",
        "    assert True",
      ),
    ).toEqual([
      "value LIMIT 1-1",
      "type Cart 3-9",
      "function total 6-9",
      "function later 11-12",
      "test test_total 13-14",
    ]);
  });

  test("Go, Rust and Java", () => {
    expect(
      symbols(
        "a_test.go",
        "const Limit = 3",
        "func (c *Cart) Total() int {",
        "\treturn 1",
        "}",
        "func TestTotal(t *testing.T) {",
        "}",
        "type Cart struct {",
        "\tlines []Line",
        "}",
      ),
    ).toEqual(["value Limit 1-1", "function Total 2-4", "test TestTotal 5-6", "type Cart 7-9"]);
    expect(
      symbols(
        "a.rs",
        "pub const MAX: u32 = 3;",
        "impl<'a> Cart<'a> {",
        "    pub fn total(&self) -> u32 {",
        "        let c = '}';",
        "    }",
        "}",
        "#[test]",
        "fn adds() {",
        "}",
      ),
    ).toEqual(["value MAX 1-1", "type Cart 2-6", "function total 3-5", "test adds 8-9"]);
    expect(
      symbols(
        "A.java",
        "public class Cart {",
        "  private static final int MAX = 3;",
        "  public int total(int x) {",
        "    return 1;",
        "  }",
        "  @Test",
        "  void adds() {",
        "  }",
        "}",
      ),
    ).toEqual(["type Cart 1-9", "value MAX 2-2", "function total 3-5", "test adds 7-8"]);
  });

  test("keys of data, and none of prose", () => {
    expect(symbols("a.json", "{", '  "rate": 19,', '  "x": 1', "}")).toEqual(["value rate 2-2"]);
    expect(symbols("a.md", "rate: 19")).toEqual([]);
  });

  test("masking keeps the length and the lines of any text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("'", '"', "`", "/", "*", "#", "\\", "\n", "a", "{", "}", " ", "[", "]") }),
        fc.constantFrom("javascript", "python", "go", "rust", "java", "other" as const),
        (text, family) => {
          const masked = maskedCode(text, family);
          expect(masked).toHaveLength(text.length);
          expect(masked.split("\n")).toHaveLength(text.split("\n").length);
        },
      ),
    );
  });
});

describe("imports", () => {
  const paths = [
    "src/a.ts",
    "src/b.ts",
    "src/c/index.ts",
    "src/data.json",
    "config/rates.yaml",
    "pkg/mod.py",
    "pkg/sub/__init__.py",
    "pkg/sub/x.py",
    "go/cart/cart.go",
    "go/cart/more.go",
    "go/tax/tax.go",
    "go/tax/tax_test.go",
    "rs/src/lib.rs",
    "rs/src/cart.rs",
    "rs/src/cart/line.rs",
    "rs/tests/all.rs",
    "rs/tests/suite/main.rs",
    "rs/tests/suite/kit.rs",
    "rs/tests/suite/cart.rs",
    "rs/src/tests/kit.rs",
    "j/src/main/java/com/shop/Cart.java",
    "j/src/main/java/com/shop/Tax.java",
    "j/src/test/java/com/shop/CartTest.java",
    "j/src/main/java/com/other/Rate.java",
    "plain/src/shop/Price.java",
    "plain/test/shop/PriceTest.java",
    "c/price.h",
    "c/price.c",
    "c/test.c",
    "sh/bin/price.sh",
    "sh/test/price_test.sh",
  ];
  const index = pathIndex(paths);
  test.each<[string, string, string[]]>([
    [
      "src/a.ts",
      'import { b } from "./b.js";\nexport * from "./c";\nconst d = require("./data.json");\nimport("@/a");\nimport x from "lodash";',
      ["src/b.ts", "src/c/index.ts", "src/data.json"],
    ],
    [
      "src/b.ts",
      'read("../config/rates.yaml"); import a from "@/a"; open("rates.yaml")',
      ["src/a.ts", "config/rates.yaml"],
    ],
    [
      "pkg/mod.py",
      "from .sub import x\nimport os, pkg.sub.x\nfrom pkg.sub.x import thing  # why",
      ["pkg/sub/__init__.py", "pkg/sub/x.py"],
    ],
    ["pkg/sub/x.py", "from .. import mod\nfrom ..mod import y", ["pkg/mod.py"]],
    ["go/cart/cart.go", 'import (\n\t"fmt"\n\t"example.com/shop/tax"\n)', ["go/cart/more.go", "go/tax/tax.go"]],
    ["rs/src/lib.rs", "pub mod cart;\nuse crate::cart::line::Line;", ["rs/src/cart.rs", "rs/src/cart/line.rs"]],
    ["rs/src/cart/line.rs", "use super::super::x; use crate::cart::Cart;", ["rs/src/cart.rs"]],
    ["rs/tests/all.rs", "use shop::cart::Cart;", ["rs/src/cart.rs", "rs/src/lib.rs"]],
    ["rs/tests/suite/main.rs", "mod cart;", ["rs/tests/suite/cart.rs", "rs/src/lib.rs"]],
    [
      "rs/tests/suite/cart.rs",
      "use crate::kit::item; use shop::cart::Cart;",
      ["rs/tests/suite/kit.rs", "rs/src/cart.rs", "rs/src/lib.rs"],
    ],
    ["rs/src/tests/kit.rs", "use crate::cart::Cart;", ["rs/src/cart.rs"]],
    [
      "j/src/test/java/com/shop/CartTest.java",
      "import com.other.Rate;\nimport static com.shop.Tax.rate;",
      [
        "j/src/main/java/com/other/Rate.java",
        "j/src/main/java/com/shop/Tax.java",
        "j/src/main/java/com/shop/Cart.java",
      ],
    ],
    ["plain/test/shop/PriceTest.java", "package shop;", ["plain/src/shop/Price.java"]],
    ["c/test.c", '#include <assert.h>\n# include "price.h"', ["c/price.h", "c/price.c"]],
    ["c/price.c", '#include "price.h"\n// see "nothing.h"', ["c/price.h"]],
    ["sh/test/price_test.sh", '. "$(dirname "$0")/../bin/price.sh"', ["sh/bin/price.sh"]],
    ["README.md", 'see "src/data.json"', ["src/data.json"]],
  ])("%s", (path, text, expected) => {
    expect(readImports(text, path, index).sort()).toEqual([...expected].sort());
  });

  describe("of packages of one workspace, by their names", () => {
    const files: Record<string, string> = {
      "package.json": '{ "name": "root", "workspaces": ["packages/*"] }',
      "packages/core/package.json": '{ "name": "@shop/core", "main": "dist/main.js" }',
      "packages/core/src/main.ts": "",
      "packages/core/src/money.ts": "",
      "packages/plain/package.json": '{ "name": "plain" }',
      "packages/plain/index.js": "",
      "packages/modern/package.json":
        '{ "name": "modern", "exports": { ".": { "import": "./lib/all.mjs" }, "./x": "./x.js" } }',
      "packages/modern/lib/all.mjs": "",
      "packages/broken/package.json": "{",
      "packages/list/package.json": "[]",
      "packages/app/test/a.test.ts": "",
    };
    const all = Object.keys(files);
    const own = pathIndex(
      all,
      readWorkspacePackages(all, (path) => files[path] ?? null),
    );
    test.each([
      ["@shop/core", ["packages/core/src/main.ts"]],
      ["@shop/core/money", ["packages/core/src/money.ts"]],
      ["plain", ["packages/plain/index.js"]],
      ["modern", ["packages/modern/lib/all.mjs"]],
      ["@shop/other", []],
      ["plain/nothing", []],
    ])("%s", (name, expected) => {
      expect(readImports(`import x from "${name}";`, "packages/app/test/a.test.ts", own)).toEqual(expected);
    });
  });

  test("a path that matches two files matches none", () => {
    expect(pathIndex(["a/x.ts", "b/x.ts"]).bySuffix("x.ts")).toBeNull();
    expect(pathIndex(["a/x.ts", "b/x.ts"]).bySuffix("/root/b/x.ts")).toBe("b/x.ts");
  });
});

describe("hunks", () => {
  const diff = [
    "diff --git a/a.js b/a.js",
    "--- a/a.js",
    "+++ b/a.js",
    "@@ -1,4 +1,4 @@",
    "-one",
    "+ONE",
    " two",
    "-three",
    " four",
    "+five",
    "diff --git a/new.js b/new.js",
    "new file mode 100644",
    "--- /dev/null",
    "+++ b/new.js",
    "@@ -0,0 +1,2 @@",
    "+x",
    "+y",
    "diff --git a/gone.js b/gone.js",
    "deleted file mode 100644",
    "--- a/gone.js",
    "+++ /dev/null",
    "@@ -1 +0,0 @@",
    "-z",
    "diff --git a/old.js b/moved.js",
    "similarity index 90%",
    "rename from old.js",
    "rename to moved.js",
    "--- a/old.js",
    "+++ b/moved.js",
    "@@ -1,2 +1,2 @@",
    " p",
    "-q",
    "+Q",
    "diff --git a/i.png b/i.png",
    "Binary files a/i.png and b/i.png differ",
  ].join("\n");
  const hunks = readHunks(readGitDiff(diff));
  const now = new Map([
    ["a.js", "ONE\ntwo\nfour\nfive\n"],
    ["new.js", "x\ny\n"],
    ["moved.js", "p\nQ\n"],
    ["i.png", "2"],
  ]);
  const before = new Map([
    ["a.js", "one\ntwo\nthree\nfour\n"],
    ["gone.js", "z\n"],
    ["old.js", "p\nq\n"],
    ["i.png", "1"],
  ]);
  const without = (...ids: number[]) =>
    Object.fromEntries(
      filesWithout(
        hunks,
        new Set(ids),
        (path) => now.get(path) ?? null,
        (path) => before.get(path) ?? null,
      ),
    );

  test("each run of changed lines is a hunk, and so is a change without lines", () => {
    expect(
      hunks.map(({ id, file, start, end, oldStart, oldEnd, removed, added }) => [
        id,
        file,
        start,
        end,
        oldStart,
        oldEnd,
        removed.length,
        added.length,
      ]),
    ).toEqual([
      [0, "a.js", 1, 1, 1, 1, 1, 1],
      [1, "a.js", 3, 3, 3, 3, 1, 0],
      [2, "a.js", 4, 4, 5, 4, 0, 1],
      [3, "new.js", 1, 2, 1, 0, 0, 2],
      [4, "gone.js", 1, 1, 1, 1, 1, 0],
      [5, "moved.js", 1, 1, 1, 1, 0, 0],
      [6, "moved.js", 2, 2, 2, 2, 1, 1],
      [7, "i.png", 1, 1, 1, 1, 0, 0],
    ]);
  });

  test("any of them can be reverted", () => {
    expect(without()).toEqual({
      "a.js": "ONE\ntwo\nfour\nfive\n",
      "new.js": "x\ny\n",
      "gone.js": null,
      "moved.js": "p\nQ\n",
      "old.js": null,
      "i.png": "2",
    });
    expect(without(0, 1, 2, 3, 4, 5, 6, 7)).toEqual({
      "a.js": "one\ntwo\nthree\nfour\n",
      "new.js": null,
      "gone.js": "z\n",
      "moved.js": null,
      "old.js": "p\nq\n",
      "i.png": "1",
    });
    expect(without(1)).toMatchObject({ "a.js": "ONE\ntwo\nthree\nfour\nfive\n" });
    expect(without(0, 2)).toMatchObject({ "a.js": "one\ntwo\nfour\n" });
    expect(without(5)).toMatchObject({ "moved.js": null, "old.js": "p\nQ\n" });
    expect(without(6)).toMatchObject({ "moved.js": "p\nq\n", "old.js": null });
  });
});
