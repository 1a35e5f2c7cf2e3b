import { describe, expect, it } from "vitest";
import { ansiParts, shownText } from "../../web/src/ansi.ts";

const ESC = "\u001b";

describe("a printed line", () => {
  it("keeps colors and weight as class names, until they are reset", () => {
    expect(ansiParts(`a ${ESC}[1;31mred${ESC}[22m still${ESC}[0m plain`)).toEqual([
      { text: "a ", style: "" },
      { text: "red", style: "ansi-red ansi-bold" },
      { text: " still", style: "ansi-red" },
      { text: " plain", style: "" },
    ]);
    expect(ansiParts(`${ESC}[38;5;2mg${ESC}[38;2;1;2;3mh${ESC}[39mi${ESC}[96mj`)).toEqual([
      { text: "g", style: "ansi-green" },
      { text: "h", style: "ansi-green" },
      { text: "i", style: "" },
      { text: "j", style: "ansi-cyan" },
    ]);
  });

  it("drops all other control codes", () => {
    const hostile = `${ESC}]8;;http://evil.example${ESC}\\link${ESC}]8;;${ESC}\\ ${ESC}[2J${ESC}[10;3Hhere${ESC}]0;title\u0007 \u0000\u0008end${ESC}`;
    expect(shownText(hostile)).toBe("link here end");
    expect(shownText("10 %\r50 %\r100 %\r")).toBe("100 %");
  });

  it("is text, whatever it looks like", () => {
    expect(ansiParts("<img src=x onerror=alert(1)>")).toEqual([{ text: "<img src=x onerror=alert(1)>", style: "" }]);
  });
});
