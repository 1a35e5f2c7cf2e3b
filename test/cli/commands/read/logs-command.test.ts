import { describe, expect, test } from "vitest";
import { command as logs } from "../../../../src/cli/commands/read/logs.ts";
import { command as status } from "../../../../src/cli/commands/read/status.ts";
import { coloredText } from "../../../../src/stdx/plain-text.ts";
import { on } from "../../../kit/fake-environment.ts";
import { fakeHost, type FakeHost } from "../../../kit/fake-host.ts";
import { story } from "../../../kit/story-world.ts";
import { storyId } from "../../../../src/core/events/ids.ts";

const AT = Date.UTC(2026, 1, 22, 14, 40);
const HOSTILE = "\u001b[32mgreen\u001b[0m \u001b]0;owned\u0007\u001b[2J\u001b[8mhidden";
const OUTPUT = {
  "pay-card": [
    { at: AT, step: "attempt 1", text: HOSTILE },
    { at: AT + 2000, step: "checks", text: "10%\r100%" },
    { at: AT + 3000, step: "review", text: "looks right" },
    { at: AT + 4000, step: "attempt 2", text: "again" },
  ],
  "pay-bank": [{ at: AT + 1000, step: "checks", text: "ok 1" }],
};

async function printing(): Promise<FakeHost> {
  const host = fakeHost({ output: OUTPUT });
  for (const id of ["pay-card", "pay-bank"]) await host.write(storyId(id), { type: "story.added", story: story(id) });
  return host;
}
const printed = async (...args: string[]) => on(await printing(), logs, args);

describe("remand logs", () => {
  test("prints output with time and step, for a prefix of an id", async () => {
    expect(await printed("pay-c")).toMatchObject({
      exit: 0,
      out: [
        "14:40:00  attempt 1    green hidden",
        "14:40:02  checks       100%",
        "14:40:03  review       looks right",
        "14:40:04  attempt 2    again",
        "",
      ].join("\n"),
    });
  });

  test("prints several stories in the order of time, with their names", async () => {
    const { out } = await printed("pay-card", "pay-bank", "--check");
    expect(out).toBe("14:40:01  pay-bank  checks       ok 1\n14:40:02  pay-card  checks       100%\n");
  });

  test.each([
    [["--agent"], ["attempt 1", "review", "attempt 2"]],
    [["--check"], ["checks"]],
    [["--attempt", "2"], ["attempt 2"]],
    [["--tail", "1"], ["attempt 2"]],
  ])("%j", async (args, steps) => {
    const { out } = await printed("pay-card", ...args, "--json", "step");
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { schema: string; step: string });
    expect(lines.map(({ step }) => step)).toEqual(steps);
    expect(lines[0]!.schema).toBe("remand.output-line/1");
  });

  test("reports an ambiguous name, a story that is not running, and missing output", async () => {
    expect(await printed("pay")).toMatchObject({ exit: 2, err: expect.stringContaining("pay-bank, pay-card") });
    expect(await printed()).toMatchObject({ exit: 2, err: expect.stringContaining("no story is in progress") });
    expect(await printed("pay-bank", "--agent")).toMatchObject({
      exit: 0,
      out: "",
      err: expect.stringMatching(/nothing/),
    });
  });

  test("of agents' control codes, only colors reach a terminal", async () => {
    expect((await printed("pay-card", "--tail", "9", "--color")).out).toContain(
      "\u001b[32mgreen\u001b[0m hidden\u001b[0m\n",
    );
    expect(coloredText("\u001b[38;5;8mgray\u001b[1;31mred\u001b[5mblink\u001b[7mback\u001b[3A")).toBe(
      "\u001b[38;5;8mgray\u001b[1;31mredblinkback\u001b[0m",
    );
  });
});

test("a unique prefix of its id selects a story", async () => {
  expect((await on(await printing(), status, ["pay-b"])).out).toContain("\npay-bank ");
  expect(await on(await printing(), status, ["pay-"])).toMatchObject({
    exit: 2,
    err: expect.stringContaining("2 names"),
  });
});
