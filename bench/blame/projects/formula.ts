/* oxlint-disable max-lines -- the texts of a project, whole */
import type { Project } from "../projects.ts";

export const formula: Project = {
  name: "formula",
  files: {
    "package.json": `{\n  "name": "formula",\n  "version": "0.3.1",\n  "type": "module"\n}\n`,
    "README.md": `# Formula\n\nReads and works out small formulas.\n`,
    "data/functions.json": `{\n  "max": { "least": 1, "most": 9 },\n  "min": { "least": 1, "most": 9 },\n  "abs": { "least": 1, "most": 1 },\n  "round": { "least": 1, "most": 2 }\n}\n`,
    "src/tokens.js": `const OPERATORS = "+-*/^()=,<>";

export function tokens(text) {
  const found = [];
  let at = 0;
  while (at < text.length) {
    const char = text[at];
    if (char === " ") {
      at++;
    } else if (/[0-9.]/.test(char)) {
      const number = /^[0-9]*\\.?[0-9]+/.exec(text.slice(at));
      if (number === null) throw new SyntaxError("bad number at " + at);
      found.push({ kind: "number", value: Number(number[0]), at });
      at += number[0].length;
    } else if (/[a-z_]/i.test(char)) {
      const name = /^[a-z_][a-z0-9_]*/i.exec(text.slice(at))[0];
      found.push({ kind: "name", value: name, at });
      at += name.length;
    } else if (OPERATORS.includes(char)) {
      found.push({ kind: "operator", value: char, at });
      at++;
    } else {
      throw new SyntaxError("unexpected " + char + " at " + at);
    }
  }
  return found;
}
`,
    "src/parse.js": `import { tokens } from "./tokens.js";

const STRENGTH = { "<": 1, ">": 1, "+": 2, "-": 2, "*": 3, "/": 3, "^": 4 };

export function parse(text) {
  const list = tokens(text);
  let at = 0;
  const peek = () => list[at]?.value;
  const expression = (least) => {
    let left = single();
    while (STRENGTH[peek()] >= least) {
      const operator = list[at++].value;
      const strength = STRENGTH[operator];
      const right = expression(operator === "^" ? strength : strength + 1);
      left = { kind: "binary", operator, left, right };
    }
    return left;
  };
  const single = () => {
    const token = list[at++];
    if (token === undefined) throw new SyntaxError("formula ends too early");
    if (token.kind === "number") return { kind: "number", value: token.value };
    if (token.value === "-") return { kind: "negate", of: expression(4) };
    if (token.value === "(") return closed(expression(1));
    if (token.kind === "name") return peek() === "(" ? call(token.value) : { kind: "name", name: token.value };
    throw new SyntaxError("unexpected " + token.value + " at " + token.at);
  };
  const closed = (inside) => {
    if (list[at++]?.value !== ")") throw new SyntaxError("missing )");
    return inside;
  };
  const call = (name) => {
    at++;
    const args = [];
    while (peek() !== ")" && at < list.length) {
      args.push(expression(1));
      if (peek() === ",") at++;
    }
    return closed({ kind: "call", name, args });
  };
  const tree = expression(1);
  if (at < list.length) throw new SyntaxError("unexpected " + list[at].value + " at " + list[at].at);
  return tree;
}
`,
    "src/functions.js": `import { readFileSync } from "node:fs";

const LIMITS = JSON.parse(readFileSync(new URL("../data/functions.json", import.meta.url), "utf8"));

export function round(value, places = 0) {
  const factor = 10 ** places;
  return Math.round(value * factor) / factor;
}

const FUNCTIONS = {
  max: (...values) => Math.max(...values),
  min: (...values) => Math.min(...values),
  abs: (value) => Math.abs(value),
  round,
};

export function callFunction(name, args) {
  const limits = LIMITS[name];
  if (limits === undefined) throw new ReferenceError("no function " + name);
  if (args.length < limits.least || args.length > limits.most) throw new TypeError(name + " takes other arguments");
  return FUNCTIONS[name](...args);
}
`,
    "src/evaluate.js": `import { callFunction } from "./functions.js";
import { parse } from "./parse.js";

const DEEPEST = 50;

export function evaluate(tree, names = {}, depth = 0) {
  if (depth > DEEPEST) throw new RangeError("formula is too deep");
  switch (tree.kind) {
    case "number":
      return tree.value;
    case "name":
      if (!Object.hasOwn(names, tree.name)) throw new ReferenceError("no name " + tree.name);
      return names[tree.name];
    case "negate":
      return -evaluate(tree.of, names, depth + 1);
    case "call":
      return callFunction(tree.name, tree.args.map((each) => evaluate(each, names, depth + 1)));
    default:
      return binary(tree.operator, evaluate(tree.left, names, depth + 1), evaluate(tree.right, names, depth + 1));
  }
}

function binary(operator, left, right) {
  if (operator === "+") return left + right;
  if (operator === "-") return left - right;
  if (operator === "*") return left * right;
  if (operator === "^") return left ** right;
  if (operator === "<") return left < right;
  if (operator === ">") return left > right;
  if (right === 0) throw new RangeError("division by zero");
  return left / right;
}

export function run(text, names) {
  return evaluate(parse(text), names);
}
`,
    "src/write.js": `const STRENGTH = { "<": 1, ">": 1, "+": 2, "-": 2, "*": 3, "/": 3, "^": 4 };

export function write(tree, outer = 0) {
  switch (tree.kind) {
    case "number":
      return String(tree.value);
    case "name":
      return tree.name;
    case "negate":
      return "-" + write(tree.of, 4);
    case "call":
      return tree.name + "(" + tree.args.map((each) => write(each)).join(", ") + ")";
    default: {
      const strength = STRENGTH[tree.operator];
      const text = write(tree.left, strength) + " " + tree.operator + " " + write(tree.right, strength + 1);
      return strength < outer ? "(" + text + ")" : text;
    }
  }
}
`,
    "src/sheet.js": `import { evaluate } from "./evaluate.js";
import { parse } from "./parse.js";
import { namesIn } from "./names.js";

export class Sheet {
  #cells = new Map();

  set(name, text) {
    if (!/^[a-z][a-z0-9]*$/.test(name)) throw new SyntaxError("bad name " + name);
    this.#cells.set(name, parse(text));
  }

  clear(name) {
    return this.#cells.delete(name);
  }

  value(name, seen = []) {
    if (seen.includes(name)) throw new RangeError("circle: " + [...seen, name].join(" > "));
    const tree = this.#cells.get(name);
    if (tree === undefined) return 0;
    const names = {};
    for (const each of namesIn(tree)) names[each] = this.value(each, [...seen, name]);
    return evaluate(tree, names);
  }

  async all() {
    const values = {};
    for (const name of [...this.#cells.keys()].sort()) values[name] = await this.later(name);
    return values;
  }

  async later(name) {
    return this.value(name);
  }
}
`,
    "src/names.js": `export function namesIn(tree, found = new Set()) {
  if (tree.kind === "name") found.add(tree.name);
  for (const part of partsOf(tree)) namesIn(part, found);
  return found;
}

export function partsOf(tree) {
  if (tree.kind === "call") return tree.args;
  if (tree.kind === "negate") return [tree.of];
  return tree.kind === "binary" ? [tree.left, tree.right] : [];
}

export function depthOf(tree) {
  const parts = partsOf(tree);
  return parts.length === 0 ? 1 : 1 + Math.max(...parts.map(depthOf));
}
`,
    "test/tokens.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { tokens } from "../src/tokens.js";

test("numbers, names and operators", () => {
  assert.deepEqual(tokens("a1 + 2.5").map((token) => token.value), ["a1", "+", 2.5]);
});

test("places are kept", () => {
  assert.deepEqual(tokens("  x*y").map((token) => token.at), [2, 3, 4]);
});

test("what is no formula is refused", () => {
  assert.throws(() => tokens("2 # 3"), /unexpected # at 2/);
});
`,
    "test/evaluate.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../src/evaluate.js";

test("strength of operators", () => {
  assert.equal(run("2 + 3 * 4"), 14);
  assert.equal(run("2 * 3 ^ 2"), 18);
  assert.equal(run("2 ^ 3 ^ 2"), 512);
  assert.equal(run("10 - 3 - 2"), 5);
});

test("minus before a value", () => {
  assert.equal(run("-2 ^ 2"), -4);
  assert.equal(run("3 - -2"), 5);
});

test("names come from outside", () => {
  assert.equal(run("a / b", { a: 9, b: 3 }), 3);
  assert.throws(() => run("a", {}), /no name a/);
});

test("functions know how many values they take", () => {
  assert.equal(run("max(1, 5, 3) + min(2, 4)"), 7);
  assert.equal(run("round(2.345, 2)"), 2.35);
  assert.equal(run("abs(1 - 4)"), 3);
  assert.throws(() => run("abs(1, 2)"), TypeError);
});

test("comparisons", () => {
  assert.equal(run("1 + 1 < 3"), true);
  assert.equal(run("2 > 2"), false);
});

test("nothing is divided by zero", () => {
  assert.throws(() => run("1 / 0"), /division by zero/);
});

test("deep formulas are refused", () => {
  assert.throws(() => run("-".repeat(60) + "1"), /too deep/);
});
`,
    "test/write.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { depthOf } from "../src/names.js";
import { parse } from "../src/parse.js";
import { write } from "../src/write.js";

test("only the brackets that are needed", () => {
  assert.equal(write(parse("(a + b) * c")), "(a + b) * c");
  assert.equal(write(parse("(a * b) + c")), "a * b + c");
  assert.equal(write(parse("a - (b - c)")), "a - (b - c)");
});

test("calls and signs", () => {
  assert.equal(write(parse("max(1,-x)")), "max(1, -x)");
});

test("depth of a tree", () => {
  assert.equal(depthOf(parse("1")), 1);
  assert.equal(depthOf(parse("1 + 2 * -3")), 4);
});

test("open brackets are an error", () => {
  assert.throws(() => parse("(1 + 2"), /missing \\)/);
  assert.throws(() => parse("1 +"), /too early/);
});
`,
    "test/sheet.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { Sheet } from "../src/sheet.js";

test("cells see each other", () => {
  const sheet = new Sheet();
  sheet.set("a", "2");
  sheet.set("b", "a * 3 + c");
  assert.equal(sheet.value("b"), 6);
});

test("circles are found", () => {
  const sheet = new Sheet();
  sheet.set("a", "b + 1");
  sheet.set("b", "a + 1");
  assert.throws(() => sheet.value("a"), /circle: a > b > a/);
});

test("all values at once", async () => {
  const sheet = new Sheet();
  sheet.set("b", "a + 1");
  sheet.set("a", "1");
  assert.deepEqual(await sheet.all(), { a: 1, b: 2 });
});

test("names are checked", () => {
  assert.throws(() => new Sheet().set("1a", "1"), /bad name/);
  assert.equal(new Sheet().clear("x"), false);
});
`,
  },
};
