import { describe, expect, it } from "vitest";
import { readScopeExceptions } from "../../../src/parse/agent/agent-answer.ts";

const paths = (text: string): string[] => readScopeExceptions(text).map(({ path }) => path);

describe("an agent's reasons for changes outside its scope", () => {
  it("are separate lines, with a file and a reason", () => {
    const text = [
      "Done.",
      "Scope exception: src/a.ts: the type is declared there",
      "- `Scope exception: src/b c.ts: it calls what was renamed`",
      "I made a scope exception: none of these",
      "Scope exception: src/c.ts:",
    ].join("\n");
    expect(readScopeExceptions(text)).toEqual([
      { path: "src/a.ts", rationale: "the type is declared there" },
      { path: "src/b c.ts", rationale: "it calls what was renamed" },
    ]);
  });

  it("are read from the end of a very long message", () => {
    const long = "log\n".repeat(50_000);
    expect(paths(`${long}Scope exception: src/last.ts: why`)).toEqual(["src/last.ts"]);
    expect(paths(`Scope exception: src/first.ts: why\n${long}`)).toEqual([]);
  });

  it("are at most a hundred, each of at most a thousand characters; of two for a file the last counts", () => {
    const many = Array.from({ length: 150 }, (_, n) => `Scope exception: src/${n}.ts: why`).join("\n");
    expect(paths(many)).toHaveLength(100);
    expect(readScopeExceptions(`Scope exception: a.ts: one\nScope exception: a.ts: two`)).toEqual([
      { path: "a.ts", rationale: "two" },
    ]);
    expect(readScopeExceptions(`Scope exception: a.ts: ${"x".repeat(3000)}`)[0]!.rationale).toHaveLength(1000);
  });
});
