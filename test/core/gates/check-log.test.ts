import { expect, test } from "vitest";
import { checkLogText, outputOfLog } from "../../../src/core/gates/check-output.ts";

test("the output of a check can be read from its log", () => {
  const log = { check: "npm test", environment: "local", command: "npm test", ending: "exit code 1" };
  for (const output of ["", "one\n\ntwo\n", "check: x\n\n"])
    expect(outputOfLog(checkLogText({ ...log, output }))).toBe(output);
});

test("another text is all output; a log that was cut in its header has none", () => {
  expect(outputOfLog("$ npm test\nfailed\n")).toBe("$ npm test\nfailed\n");
  expect(outputOfLog("check: npm te")).toBe("");
});
