import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createLineAsker } from "../../../src/adapters/terminal/keyboard.ts";

test("each question gets its line, including lines typed ahead", async () => {
  const input = new PassThrough();
  let shown = "";
  const ask = createLineAsker(input, { write: (text) => (shown += text) });
  input.write("one\ntwo\nth");
  expect(await ask("first? ")).toBe("one");
  expect(await ask("second? ")).toBe("two");
  const third = ask("third? ");
  input.write("ree\n");
  expect(await third).toBe("three");
  expect(shown).toBe("first? second? third? ");
});

test("the end of input is no answer", async () => {
  const input = new PassThrough();
  const ask = createLineAsker(input, { write: () => undefined });
  input.end("one\n");
  expect(await ask("first? ")).toBe("one");
  await expect(ask("second? ")).rejects.toMatchObject({ code: "usage", message: "no answer was given" });
});
