import { expect, test } from "vitest";
import { checkLogText, printedIn } from "../../../src/core/gates/check-output.ts";

test("what a check printed is found again in what is kept of it", () => {
  const log = { check: "npm test", environment: "local", command: "npm test", ending: "exit code 1" };
  for (const output of ["", "one\n\ntwo\n", "check: x\n\n"])
    expect(printedIn(checkLogText({ ...log, output }))).toBe(output);
});

test("another kind of text is all output; one that was cut off in its head has none", () => {
  expect(printedIn("$ npm test\nfailed\n")).toBe("$ npm test\nfailed\n");
  expect(printedIn("check: npm te")).toBe("");
});
