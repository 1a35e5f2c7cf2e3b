import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineAuthors, type ChangedFile, type ChangedLine } from "../../../src/views/story/diff-range.ts";

/** A diff without context between two texts. */
function change(from: readonly string[], to: readonly string[]): ChangedFile {
  // The longest common start and end are kept; everything between is removed and added.
  let head = 0;
  while (head < from.length && head < to.length && from[head] === to[head]) head++;
  let tail = 0;
  while (tail < from.length - head && tail < to.length - head && from.at(-1 - tail) === to.at(-1 - tail)) tail++;
  const removed = from
    .slice(head, from.length - tail)
    .map((text, i): ChangedLine => ({ kind: "removed", text, line: head + i + 1 }));
  const added = to
    .slice(head, to.length - tail)
    .map((text, i): ChangedLine => ({ kind: "added", text, line: head + i + 1 }));
  return { path: "a", oldPath: "a", change: "modified", hunks: [{ lines: [...removed, ...added] }] };
}

describe("line authors", () => {
  it("follows a line when it moves, and drops it when it is removed", () => {
    const authors = lineAuthors([
      { attempt: 1, files: [change(["x"], ["x", "one"])] },
      { attempt: 2, files: [change(["x", "one"], ["two", "x", "one"])] },
      { attempt: 3, files: [change(["two", "x", "one"], ["three", "x", "one"])] },
    ]);
    expect([...authors.get("a")!].sort(([a], [b]) => a - b)).toEqual([
      [1, 3],
      [3, 1],
    ]);
  });

  it("follows a renamed file, keeps the original of a copied one, and ends with a deleted one", () => {
    const whole = { ...change([], ["one"]), change: "added" };
    const none: ChangedFile["hunks"] = [];
    const renamed = lineAuthors([
      { attempt: 1, files: [whole] },
      { attempt: 2, files: [{ path: "b", oldPath: "a", change: "renamed", hunks: none }] },
    ]);
    expect([renamed.has("a"), renamed.get("b")?.get(1)]).toEqual([false, 1]);
    const copied = lineAuthors([
      { attempt: 1, files: [whole] },
      { attempt: 2, files: [{ path: "b", oldPath: "a", change: "copied", hunks: none }] },
    ]);
    expect([copied.get("a")?.get(1), copied.get("b")?.get(1)]).toEqual([1, 1]);
    const deleted = lineAuthors([
      { attempt: 1, files: [whole] },
      { attempt: 2, files: [{ ...change(["one"], []), change: "deleted" }] },
    ]);
    expect(deleted.size).toBe(0);
  });

  it("finds the attempt that wrote every line, for any history", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.constantFrom("p", "q", "r"), { maxLength: 8 }), { minLength: 1, maxLength: 6 }),
        (kinds) => {
          // The lines of each text name their author, so that the right answer is known.
          let text: string[] = [];
          const changes = kinds.map((wanted, i) => {
            const attempt = i + 1;
            const keep = Math.min(text.length, wanted.length >> 1);
            const next = [
              ...text.slice(0, keep),
              ...wanted.map((kind) => `${kind}${attempt}`),
              ...text.slice(keep + (attempt % 2)),
            ];
            const file = change(text, next);
            text = next;
            return { attempt, files: [file] };
          });
          const known = lineAuthors(changes).get("a") ?? new Map<number, number>();
          expect(text.map((_, i) => known.get(i + 1))).toEqual(text.map((line) => Number(line.slice(1))));
        },
      ),
    );
  });
});
