import { describe, expect, test } from "vitest";
import type { Keyboard } from "../../../../src/app/command.ts";
import { command as inbox } from "../../../../src/cli/commands/read/inbox.ts";
import { command as answer } from "../../../../src/cli/commands/work/answer.ts";
import { keysIn } from "../../../../src/adapters/terminal/keyboard.ts";
import { on } from "../../../kit/fake-environment.ts";
import type { FakeHost } from "../../../kit/fake-host.ts";
import { hostAfterRun } from "../../../kit/finished-run.ts";
import { story } from "../../../kit/story-world.ts";
import { world as scripted } from "../../../seeds/scripted-run.ts";

const SAME = { result: "fail", failure: "same", blocking: 1 } as const;

/** Two stories whose checks always fail in the same way: two questions with one cause. */
const stuck = (): Promise<FakeHost> =>
  hostAfterRun(
    [story("pay-bank"), story("pay-card")],
    scripted({ gates: { checks: [SAME, SAME, SAME, SAME, SAME, SAME] } }),
  );

const answersIn = async (host: FakeHost) =>
  (await host.lines()).flatMap(({ story: of, event }) =>
    event.type === "person.answered" ? [`${of} ${event.answer.verb} ${event.answer.message}`] : [],
  );

/** Presses these keys, one list per listener. */
function keyboardOf(...turns: (readonly string[])[]): Keyboard {
  return {
    rows: () => 24,
    listen: (onKey) => {
      const keys = turns.shift() ?? ["q"];
      queueMicrotask(() => keys.forEach(onKey));
      return () => undefined;
    },
  };
}

const atTerminal = (keyboard: Keyboard, typed = "") => ({
  terminal: true,
  keyboard,
  ask: () => Promise.resolve(typed),
});

describe("one answer for several questions", () => {
  test("goes to all questions of one cause, or to none if it is invalid for one of them", async () => {
    const host = await stuck();
    const { items } = JSON.parse((await on(host, inbox, ["--json", "cause"])).out) as { items: { cause: string }[] };
    expect(new Set(items.map(({ cause }) => cause)).size).toBe(1);
    expect(await on(host, answer, ["--all", "--cause", items[0]!.cause, "abandon"])).toMatchObject({ exit: 2 });
    expect(await answersIn(host)).toEqual([]);
    const ran = await on(host, answer, ["--all", "--cause", items[0]!.cause, "abandon", "--message", "not now"]);
    expect(ran).toMatchObject({ exit: 0, out: expect.stringMatching(/^pay-bank: .*\npay-card: /) });
    expect(await answersIn(host)).toEqual(["pay-bank abandon not now", "pay-card abandon not now"]);
  });

  test("is listed once in the inbox, and the other questions refer to it", async () => {
    const { out } = await on(await stuck(), inbox, []);
    expect(out.match(/ {2}remand answer esc-pay-bank-1 send-back/g)).toHaveLength(1);
    expect(out).toContain("  the same cause and answers as esc-pay-bank-1: remand answer esc-pay-card-1 <answer>\n");
    expect(out).not.toContain("remand answer esc-pay-card-1 send-back");
    expect(out).toContain("remand show pay-card shows its history");
  });

  test("lists the causes if the typed one does not exist", async () => {
    const ran = await on(await stuck(), answer, ["--all", "--cause", "nope", "retry"]);
    expect(ran).toMatchObject({ exit: 2, err: expect.stringContaining("Choose one: --cause ") });
  });
});

describe("the picker", () => {
  test("selects a question with arrow keys and an answer by its number, and asks for the message", async () => {
    const host = await stuck();
    const ran = await on(host, answer, [], atTerminal(keyboardOf(["down", "enter"], ["1"]), "look at the token"));
    expect(ran.exit).toBe(0);
    expect(ran.out).toContain("> 1  pay-bank: ");
    expect(await answersIn(host)).toEqual(["pay-card send-back look at the token"]);
  });

  test.each(["pay-c", "esc-pay-card-1"])("asks for the answer alone where the question is named: %s", async (about) => {
    const host = await stuck();
    const ran = await on(host, answer, [about], atTerminal(keyboardOf(["1"]), "look at the token"));
    expect(ran.exit).toBe(0);
    expect(ran.out).not.toContain("Which question?");
    expect(await answersIn(host)).toEqual(["pay-card send-back look at the token"]);
    expect(await on(host, answer, [about])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("the answer is missing"),
    });
  });

  test("can be left without an answer, also below the inbox", async () => {
    const host = await stuck();
    expect(await on(host, answer, [], atTerminal(keyboardOf(["escape"])))).toMatchObject({ exit: 0 });
    expect(await on(host, inbox, [], atTerminal(keyboardOf(["q"])))).toMatchObject({ exit: 0 });
    expect(await answersIn(host)).toEqual([]);
  });

  test("off a terminal, a question must be named", async () => {
    expect(await on(await stuck(), answer, [])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("remand inbox"),
    });
  });
});

test("a prefix of its id selects a question", async () => {
  const host = await stuck();
  expect(await on(host, answer, ["esc-pay-c", "resolve"])).toMatchObject({ exit: 0 });
  expect(await answersIn(host)).toEqual(["pay-card resolve "]);
});

test("keys are separated, even if a terminal sends several at once", () => {
  expect(keysIn("\u001b[A\u001bOBj\r\u007f表\u001b[6~\u001b")).toEqual([
    "up",
    "down",
    "j",
    "enter",
    "backspace",
    "表",
    "page-down",
    "escape",
  ]);
});
