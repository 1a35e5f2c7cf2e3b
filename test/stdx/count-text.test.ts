import { describe, expect, it } from "vitest";
import { countText, plural } from "../../src/stdx/plain-text.ts";

describe("a count with its noun", () => {
  it.each([
    [0, "0 stories"],
    [1, "1 story"],
    [2, "2 stories"],
  ])("%i becomes %s", (count, said) => expect(countText(count, "story", "stories")).toBe(said));

  it("adds an s without another plural", () => {
    expect([countText(1, "line"), countText(10, "line"), plural(1, "line"), plural(0, "line")]).toEqual([
      "1 line",
      "10 lines",
      "line",
      "lines",
    ]);
  });
});
