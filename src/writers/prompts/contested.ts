import { contestedWords } from "../../domain/contested-test.ts";
import type { ShownContested } from "../../domain/prompt.ts";
import { grouped } from "../untrusted-text.ts";
import { bullets, evidenceFence, line, restOf, section, together, type Pen, type Piece } from "../briefs/pen.ts";

/** The existing tests that the work changed, with both versions, and the request to rule on each by its name. */
export function contestedTests(pen: Pen, contested: readonly ShownContested[] = []): Piece {
  if (contested.length === 0) return "";
  return section(
    "### Contested Tests",
    "These tests passed before. In their earlier versions they do not pass with the work: the work changed or removed them.",
    bullets(pen, contested, (each) => `${line(pen, each.test)}: ${contestedWords(each)}`, { what: "tests" }),
    versions(pen, contested),
    "Rule on each of them by its name: is the change to the test right according to the story? A test that was weakened, removed or fitted to the work without need is an issue, with the test's name and file. If you pass the work, the changed tests are accepted.",
  );
}

/** Each file once, whatever number of its tests is contested: `-` is the earlier version, `+` the work's. */
function versions(pen: Pen, contested: readonly ShownContested[]): Piece {
  const diffs = new Map(
    contested.flatMap((each) => (each.file === undefined || each.diff === undefined ? [] : [[each.file, each]])),
  );
  const shown = [...diffs].slice(0, MOST_FILES);
  return together([
    ...shown.map(([file, { diff = "", isOfStory }]) => {
      const before = isOfStory === true ? "version passed earlier" : "base version";
      return evidenceFence(pen, cut(diff), `${file}: - ${before}, + version of the work`);
    }),
    ...restOf(pen, diffs.size - shown.length, "files"),
  ]);
}

const MOST_FILES = 10;
const MOST_LINES = 200;

function cut(diff: string): string {
  const lines = diff.trimEnd().split("\n");
  if (lines.length <= MOST_LINES) return diff.trimEnd();
  return [
    ...lines.slice(0, MOST_LINES),
    `… ${grouped(lines.length - MOST_LINES)} more lines of this file left out …`,
  ].join("\n");
}
