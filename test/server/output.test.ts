import { describe, expect, it } from "vitest";
import type { OutputLine } from "../../src/core/events/output-line.ts";
import type { OutputReader } from "../../src/ports/evidence.ts";
import { servedStuck } from "./served.ts";

/** Lines in memory; a position is the number of lines before it. */
function printed(lines: readonly string[]): OutputReader {
  const all = lines.map((text): OutputLine => ({ at: 1, step: "attempt 1", text }));
  return {
    read: async (_, after) => ({
      lines: all.slice(after?.offset ?? 0),
      place: { file: 1, offset: all.length },
      hasMore: false,
    }),
    lastPlace: async () => ({ file: 1, offset: Math.max(0, all.length - 1) }),
    lastLine: async () => all.at(-1) ?? null,
  };
}

describe("the stream of output", () => {
  const first = async (query: string, output: OutputReader): Promise<string> => {
    const { dashboard } = await servedStuck({ output, secrets: { literals: ["s3cr3t-word-of-mine"] } });
    const over = new AbortController();
    const response = await fetch(`http://127.0.0.1:${dashboard.port}/api/output?${query}`, {
      headers: { authorization: `Bearer ${dashboard.token}` },
      signal: over.signal,
    });
    if (!response.ok) return `${response.status} ${await response.text()}`;
    let text = "";
    const decoder = new TextDecoder();
    for await (const part of response.body!) {
      text += decoder.decode(part, { stream: true });
      if (text.includes("event: output")) break;
    }
    over.abort();
    return /data: (.*)\n/.exec(text)?.[1] ?? "";
  };

  it("starts at the reader's position, or at the end if requested, and contains no secret", async () => {
    const output = printed(["one", "two", "the s3cr3t-word-of-mine"]);
    expect(JSON.parse(await first("of=login@1-1", output))).toMatchObject({
      story: "login",
      lines: [{ text: "two" }, { text: expect.not.stringContaining("s3cr3t") }],
      place: { file: 1, offset: 3 },
    });
    expect(JSON.parse(await first("of=login&tail=1", output))).toMatchObject({ lines: [{ step: "attempt 1" }] });
    expect((JSON.parse(await first("of=login", output)) as { lines: unknown[] }).lines).toHaveLength(3);
  });

  it("keeps colors and no other control codes; a secret that colors split is found", async () => {
    const lines = ["\u001b[31mred\u001b[0m", "\u001b[31mred\u001b[2J", "s3cr3t-\u001b[1mword-of-mine"];
    const page = JSON.parse(await first("of=login", printed(lines))) as { lines: { text: string }[] };
    expect(page.lines.map(({ text }) => text)).toEqual([lines[0], "red", expect.not.stringContaining("mine")]);
  });

  it("refuses unknown stories", async () => {
    expect(await first("of=nosuch", printed(["one"]))).toContain("there is no story nosuch");
  });
});
