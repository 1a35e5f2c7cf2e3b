import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Blame } from "../../../src/core/blame/blame.ts";
import type { Event, Recorded } from "../../../src/core/events/event.ts";
import { treeId } from "../../../src/core/events/ids.ts";
import { newStory } from "../../../src/fold/new-state.ts";
import { type DiffDocument, type DiffMaterial, readDiff } from "../../../src/views/story/diff-document.ts";
import { attemptEnd, judgement, recordedEvent, story } from "../../kit/story-world.ts";
import { changedLines } from "./changed-lines.ts";

/** The history of one file: its text after each attempt; attempt 0 is the base. */
type Texts = readonly (readonly string[])[];

const blamed = (line: number, endLine: number): Event => {
  const suspect = { file: "a.ts", line, endLine, change: "", confidence: 0.9, reasons: [] };
  const blame: Blame = {
    verdict: "culprit",
    basis: "proven",
    confidence: 1,
    suspects: [suspect],
    explanation: "",
    testRuns: 2,
  };
  return { type: "blame.found", gate: "checks", blame, durationMs: 0 };
};

/** The document of the whole work, with these events about the tree of each attempt. */
async function shown(texts: Texts, said: Readonly<Record<number, readonly Event[]>>, upTo = texts.length - 1) {
  const events: Event[] = [{ type: "story.prepared", tree: treeId("t0"), commit: "c0", preExisting: [] }];
  for (let attempt = 1; attempt < texts.length; attempt++)
    events.push(
      { ...attemptEnd(attempt, { type: "ready" }, `t${attempt}`), commit: `c${attempt}` } as Event,
      ...(said[attempt] ?? []),
    );
  return read(
    texts,
    events.map((event, at) => recordedEvent(at, "a", event)),
    `c${upTo}`,
  );
}

async function read(texts: Texts, lines: readonly Recorded[], to: string): Promise<DiffDocument> {
  const textOf = (commit: string): readonly string[] => texts[Number(commit.slice(1))]!;
  const files = (from: string, until: string): DiffMaterial["files"] => {
    const hunks = [{ heading: "", lines: changedLines(textOf(from), textOf(until)) }];
    return from === until ? [] : [{ path: "a.ts", oldPath: "a.ts", change: "modified", isBinary: false, hunks }];
  };
  const state = newStory(story("a"), 0, 0);
  return readDiff({
    state,
    lines,
    range: { from: "c0", to },
    mostLines: Infinity,
    read: (from, until) => Promise.resolve(files(from, until)),
  });
}

const marked = ({ files }: DiffDocument): string[] =>
  files.flatMap(({ hunks }) =>
    hunks.flatMap(({ lines }) => lines.filter(({ blames }) => blames.length > 0).map(({ text }) => text)),
  );

const found = ({ files }: DiffDocument): string[] =>
  files.flatMap(({ hunks }) =>
    hunks.flatMap(({ lines }) => lines.filter(({ findings }) => findings.length > 0).map(({ text }) => text)),
  );

describe("a blame mark", () => {
  it("follows its line when later attempts move it, and disappears when the line is rewritten", async () => {
    const texts = [["x"], ["x", "bug"], ["new", "x", "bug"], ["new", "x", "fixed", "bug?"]];
    expect(marked(await shown(texts.slice(0, 2), { 1: [blamed(2, 2)] }))).toEqual(["bug"]);
    expect(marked(await shown(texts.slice(0, 3), { 1: [blamed(2, 2)] }))).toEqual(["bug"]);
    expect(marked(await shown(texts, { 1: [blamed(2, 2)] }))).toEqual([]);
  });

  it("is shown on the work before, and not on later lines", async () => {
    const texts = [["x"], ["x", "bug"], ["innocent", "x"]];
    expect(marked(await shown(texts, { 1: [blamed(2, 2)] }, 1))).toEqual(["bug"]);
    expect(marked(await shown(texts, { 2: [blamed(1, 1)] }, 1))).toEqual([]);
  });

  it("is shown once on a line that is blamed again, at the first line with text of its hunk", async () => {
    const texts = [["x"], ["{", "bug", "x"], ["more", "{", "bug", "x"]];
    const both = await shown(texts, { 1: [blamed(1, 2)], 2: [blamed(2, 3)] });
    expect(marked(both)).toEqual(["bug"]);
    const [mark, ...others] = both.files[0]!.hunks[0]!.lines.flatMap(({ blames }) => blames);
    expect([mark?.line, others]).toEqual([3, []]);
  });

  it("disappears with discarded work", async () => {
    const texts = [["x"], ["one", "x"], ["two", "bug", "x"], ["one", "x", "three"]];
    const lines = [
      { type: "story.prepared", tree: treeId("t0"), commit: "c0", preExisting: [] },
      { ...attemptEnd(1, { type: "ready" }, "t1"), commit: "c1" },
      { ...attemptEnd(2, { type: "ready" }, "t2"), commit: "c2" },
      blamed(2, 2),
      { type: "tree.restored", tree: treeId("t1"), commit: "c1" },
      { ...attemptEnd(3, { type: "ready" }, "t3"), commit: "c3" },
    ] as readonly Event[];
    expect(
      marked(
        await read(
          texts,
          lines.map((event, at) => recordedEvent(at, "a", event)),
          "c3",
        ),
      ),
    ).toEqual([]);
  });

  it("is shown only on unchanged descendants of the blamed line, whatever is edited", async () => {
    const edit = fc.record({ at: fc.nat(12), remove: fc.nat(3), add: fc.nat(3) });
    const history = fc.record({
      edits: fc.array(fc.array(edit, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 6 }),
      in: fc.nat(5),
      line: fc.nat(14),
      length: fc.nat(3),
    });
    let seen = 0;
    await fc.assert(
      fc.asyncProperty(history, async ({ edits, in: inAttempt, line, length }) => {
        // Every written line is different, so that its text identifies it.
        let written = 0;
        const fresh = (count: number): string[] => Array.from({ length: count }, () => `line${written++}`);
        const texts: string[][] = [fresh(6)];
        for (const each of edits) {
          const next = [...texts.at(-1)!];
          for (const { at, remove, add } of each) next.splice(at % (next.length + 1), remove, ...fresh(add));
          texts.push(next);
        }
        const attempt = 1 + (inAttempt % edits.length);
        const first = 1 + (line % Math.max(1, texts[attempt]!.length));
        const suspects = texts[attempt]!.slice(first - 1, first + length);
        const document = await shown(texts, { [attempt]: [blamed(first, first + length)] });
        const marks = marked(document);
        for (const text of marks) expect(suspects).toContain(text);
        // If one of them still exists and is visible, it is shown.
        const lines = document.files.flatMap(({ hunks }) => hunks.flatMap((hunk) => hunk.lines));
        const left = suspects.filter((text) =>
          lines.some((shownLine) => shownLine.kind !== "removed" && shownLine.text === text),
        );
        expect(marks).toEqual(left.slice(0, 1));
        seen += marks.length;
      }),
      { numRuns: 300 },
    );
    expect(seen).toBeGreaterThan(20);
  });
});

it("a finding follows its line, too, and is listed separately when the line was rewritten", async () => {
  const texts = [["x"], ["x", "bad"], ["new", "x", "bad"], ["new", "x", "good"]];
  const failed = judgement("checks", "t1", "fail");
  const findings = failed.findings.map((each) => ({ ...each, file: "a.ts", line: 2 }));
  const said: Event = { type: "gate.judged", judgement: { ...failed, findings } };
  const moved = await shown(texts.slice(0, 3), { 1: [said] });
  expect([found(moved), moved.elsewhere]).toEqual([["bad"], []]);
  const rewritten = await shown(texts, { 1: [said] });
  expect(found(rewritten)).toEqual([]);
  expect(rewritten.elsewhere).toHaveLength(1);
});
