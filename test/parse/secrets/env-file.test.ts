import { describe, expect, test } from "vitest";
import { readEnvValues } from "../../../src/parse/secrets/secrets.ts";

describe("the values of a .env file", () => {
  test.each([
    ["TOKEN=abc-123\n", ["abc-123"]],
    ["export TOKEN = abc # of the test account\nURL=http://x/#part\n", ["abc", "http://x/#part"]],
    [`A="two words" # said\nB='as $it is'\nC=\`back\`\n`, ["two words", "as $it is", "back"]],
    ['KEY="-----BEGIN\\nline"\nMORE="first\nsecond"\n', ["-----BEGIN\nline", "first\nsecond"]],
    ['QUOTE="say \\"hello\\""\n', ['say "hello"']],
    ["A=1\r\nB=2\r\n", ["1", "2"]],
    ["# A=commented\n\nEMPTY=\nno assignment here\n", []],
    ['UNCLOSED="open\nNEXT=value\n', ['"open', "value"]],
  ])("%j", (text, values) => {
    expect(readEnvValues(text)).toEqual(values);
  });

  test("a long line without an end takes no time", () => {
    expect(readEnvValues(`A="${"\\x".repeat(200_000)}`)).toHaveLength(1);
  });
});
