import { framePlace } from "./test-output-parts.ts";

const MOST_LINES = 40;
const MOST_CHARS = 2000;
const MOST_FRAMES = 3;

/**
 * What a stretch of lines says beyond its first words, which are the message: expected and actual values, a
 * difference, and the nearest frames of the project's own code. Libraries' frames explain nothing to whoever mends it.
 */
export function detailIn(lines: readonly string[], from: number, to: number): string {
  let at = from;
  while (at < to && lines[at]!.trim() === "") at++;
  const kept: string[] = [];
  let frames = 0;
  for (at++; at < to && kept.length <= MOST_LINES * 2; at++) {
    const line = lines[at]!;
    if (BESIDE_THE_POINT.test(line)) continue;
    if (!/^\s*(?:at|❯)\s/.test(line)) kept.push(line);
    else if (framePlace(line) !== null && frames++ < MOST_FRAMES) kept.push(line);
  }
  return cappedDetail(kept);
}

/** The same lines without what is empty around them and what indents all of them, and no more than anybody reads. */
export function cappedDetail(lines: readonly string[]): string {
  const told = lines
    .map((line) => line.trimEnd())
    .filter((line, at, all) => line !== "" || (at > 0 && all[at - 1] !== "" && at < all.length - 1));
  if (told[0] === "") told.shift();
  const indent = Math.min(...told.filter((line) => line !== "").map((line) => /^ */.exec(line)![0].length));
  const text = told
    .slice(0, MOST_LINES)
    .map((line) => line.slice(indent))
    .join("\n")
    .trimEnd();
  if (text.length > MOST_CHARS) return `${text.slice(0, MOST_CHARS)}…`;
  return told.length > MOST_LINES ? `${text}\n…` : text;
}

/** Frames of the runtime's own, and what every failed assertion of Node's says of itself. */
const BESIDE_THE_POINT =
  /\(node:[^()]*\)$|^\s*node:\S+$|\(<anonymous>\)$|^\s*(?:generatedMessage: |code: 'ERR_ASSERTION'|name: 'AssertionError'|-{20,}$)/;
