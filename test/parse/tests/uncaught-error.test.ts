import { expect, it } from "vitest";
import { readTestOutput } from "../../../src/parse/tests/test-output.ts";

it("finds the error that ended a program, with its location in the project", () => {
  const node = [
    "TypeError: Cannot redefine property: isNew",
    "    at Function.defineProperty (<anonymous>)",
    "    at Object.<anonymous> (/project/index.js:64:35)",
    "    at Module._load (node:internal/modules/cjs/loader:1091:12)",
  ].join("\n");
  expect(readTestOutput(node, "/project").failures).toEqual([
    {
      test: null,
      category: "crash",
      message: "TypeError: Cannot redefine property: isNew",
      detail: "at Object.<anonymous> (index.js:64:35)",
      file: "index.js",
      line: 64,
    },
  ]);
  const python = ["Traceback (most recent call last):", '  File "a.py", line 3, in <module>', "    import missing"];
  const told = [...python, "ModuleNotFoundError: No module named 'missing'"].join("\n");
  expect(readTestOutput(told, "/project").failures).toMatchObject([
    { file: "a.py", line: 3, message: "ModuleNotFoundError: No module named 'missing'" },
  ]);
});

it("takes no frame of Remand's own reporter for the place of an error", () => {
  const frame = "    at Module._extensions.<computed> [as .js] (/home/ada/remand-0.1/reporters/hook-modules.cjs:18:12)";
  const output = ["SyntaxError: x", frame, "    at Object.<anonymous> (/project/index.js:64:35)"].join("\n");
  expect(readTestOutput(output, "/project").failures).toMatchObject([{ file: "index.js", line: 64 }]);
});

it("has no location if the error has none in the project", () => {
  expect(readTestOutput("TypeError: x\n    at run (/p/node_modules/a/b.js:1:2)", "/project").failures).toEqual([]);
});
