import { describe, expect, test } from "vitest";
import { faultsIn, withFault } from "../../../src/parse/code/plant-faults.ts";

const linesOf = (path: string, text: string): string[] => faultsIn(path, text).map(({ after }) => after.trim());

describe("faults in a line", () => {
  test.for([
    ["a.js", "const sum = a + b;", "const sum = a - b;"],
    ["a.js", "if (price >= LIMIT) stop();", "if (price < LIMIT) stop();"],
    ["a.js", "  if (isEmpty(cart)) return;", "if (!(isEmpty(cart))) return;"],
    ["a.js", "const most = 12;", "const most = 0;"],
    ["a.js", "export const last = (all) => all.at(-1);", "export const last = (all) => undefined;"],
    ["a.js", "  log.push(entry);", ""],
    ["a.js", 'const name = "Ada";', 'const name = "Ada~";'],
    ["a.js", 'const path = base + "/a/b?c=<d>";', 'const path = base + "/a/b?c=<d>~";'],
    ["a.js", 'return isKnown ? "" : name;', 'return isKnown ? "~" : name;'],
    ["a.js", "const hello = `Hello, ${name}!`;", "const hello = `Hello, ~${name}!`;"],
    ["a.py", '    return "/".join(parts)', 'return "/~".join(parts)'],
    ["a.py", "    if cart and paid:", "if not (cart and paid):"],
    ["a.py", "    return sorted(prices)", "return None"],
    ["a.py", "    self.seen = True", "self.seen = False"],
    ["a.go", "func Add(a, b int) int { return a*b }", "func Add(a, b int) int { return a+b }"],
    ["a.go", "\tif ready(x) {", "if !(ready(x)) {"],
    ["a.rs", "    a - b", "a * b"],
    ["a.java", "    total += price;", "total -= price;"],
    ["a.rb", "  a && b", "a || b"],
  ] as const)("%s: %s", ([path, line, fault]) => {
    expect(linesOf(path, line)).toContain(fault);
  });

  test.for([
    ["a.js", "// a + b"],
    ["a.js", 'import { a } from "./b.js";'],
    ["a.py", '"""a + b"""'],
    ["a.ts", "export type Sum = readonly string[];"],
    ["a.js", '"use strict";'],
    ["a.md", "1 + 1"],
    ["a.d.ts", "declare const a: 1;"],
    ["vitest.config.ts", "const a = 1 + 1;"],
  ] as const)("none in %s: %s", ([path, line]) => {
    expect(faultsIn(path, line)).toEqual([]);
  });

  test("each has probes that show that the line runs", () => {
    expect(faultsIn("a.js", "sum + price")[0]?.probes[0]).toBe("sum + remandPlantedFault + price");
    expect(faultsIn("a.go", "\tsum += price")[0]?.probes[0]).toBe("\tsum += remandPlantedFault + price");
    expect(faultsIn("a.rs", "    a - b")[0]?.probes[1]).toBe("    a / (a - a) - b");
  });

  test("opposite operators come before other numbers, and these before other strings", () => {
    const [first, second, ...others] = faultsIn("a.js", 'say("so many", a + 7);');
    expect([first?.after, second?.after]).toEqual(['say("so many", a - 7);', 'say("so many", a + 0);']);
    expect(others.at(-1)?.after).toBe('say("so many~", a + 7);');
  });

  test("only open lines are changed", () => {
    expect(faultsIn("a.js", "a + b;\nc + d;", (line) => line.startsWith("c")).every(({ line }) => line === 2)).toBe(
      true,
    );
  });
});

describe("planting a fault", () => {
  const fault = { line: 2, before: "a + b", after: "a - b" };

  test("finds its line if others were added above", () => {
    expect(withFault("one\ntwo\na + b\n", fault)).toBe("one\ntwo\na - b\n");
  });

  test("fails if the line changed, or is one of several equal lines and moved", () => {
    expect(withFault("one\na + c\n", fault)).toBeNull();
    expect(withFault("a + b\none\na + b\n", fault)).toBeNull();
    expect(withFault("a + b\na + b\n", fault)).toBe("a + b\na - b\n");
  });
});
