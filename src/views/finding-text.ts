import type { Finding } from "../domain/finding.ts";
import type { Judgement } from "../domain/gate.ts";
import { shortLine } from "./words.ts";

/** A finding on one line: its place, then what is wrong. */
export function findingText(finding: Finding, maxChars = 160): string {
  const place = placeText(finding);
  return shortLine(place === "" ? finding.message : `${place}  ${finding.message}`, maxChars);
}

function placeText({ file, line }: Pick<Finding, "file" | "line">): string {
  if (file === undefined) return "";
  return line === undefined ? file : `${file}:${line}`;
}

/**
 * The findings that stand in the way, or all of them where none is named, or what the gate says of itself; each with so
 * many lines of what it says beyond its message.
 */
export function reasonsOf(judgement: Judgement, most: number, detailLines = 0): string[] {
  const blocking = judgement.findings.filter((finding) => judgement.blocking.includes(finding.id));
  const shown = (blocking.length > 0 ? blocking : judgement.findings).slice(0, most);
  if (shown.length === 0) return judgement.summary === "" ? [] : [shortLine(judgement.summary, 160)];
  const more = (blocking.length > 0 ? blocking : judgement.findings).length - shown.length;
  return [
    ...shown.flatMap((finding) => [findingText(finding), ...detailText(finding, detailLines)]),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

function detailText({ detail = "" }: Finding, most: number): string[] {
  const lines = detail.split("\n", most * 2).filter((line) => line.trim() !== "");
  return lines.slice(0, most).map((line) => `  | ${indentOf(line)}${shortLine(line, 120)}`);
}

/** A difference is told by its signs, which stand at the beginning, and its depth. */
const indentOf = (line: string): string => /^ {0,12}/.exec(line)![0];
