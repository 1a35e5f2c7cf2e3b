import { expect, test } from "vitest";
import { readRehearsal } from "../../../src/parse/agent/agent-script.ts";

test("a script has replies, or parts with replies", () => {
  expect(readRehearsal("s.yaml", "replies: [{ says: hello }]\n")).toEqual({
    parts: [{ replies: [{ says: "hello" }] }],
    problems: [],
  });
  const parts =
    "parts:\n  - match: { api: anthropic, prompt: audit }\n    replies: [{ calls: Bash, input: { command: ls } }]\n";
  expect(readRehearsal("s.yaml", parts).parts).toEqual([
    { match: { api: "anthropic", prompt: "audit" }, replies: [{ calls: "Bash", input: { command: "ls" } }] },
  ]);
});

test.each([
  ["replies: [{ says: a }, { sings: b }]\n", /`replies\.1` must be a reply with one of `says`, `calls`,/],
  ["replies: [{ calls: Bash }]\n", /`replies\.0` must be a reply/],
  ["replies: [{ fails: 200 }]\n", /`replies\.0/],
  ["reply: []\n", /must be a map without the key "reply"/],
  ["version: 1\n", /the script must be a map with either `replies` or `parts`/],
  ["parts: [{ match: { api: grpc }, replies: [{ says: a }] }]\n", /`parts\.0\.match\.api` must be /],
  ["replies: [\n", /./],
])("%j is refused at its location", (text, message) => {
  const { parts, problems } = readRehearsal("s.yaml", text);
  expect(parts).toBeNull();
  expect(problems[0]).toMatchObject({ file: "s.yaml", severity: "error", message: expect.stringMatching(message) });
});
