import type { BlameReport, Considered, Origin } from "../core/blame/blame.ts";
import { countText, plainText } from "../stdx/plain-text.ts";
import { blamedHunks, blameKind } from "../views/board/check-reports.ts";
import type { DiffDocument, DiffFile, ShownLine } from "../views/story/diff-document.ts";
import { whoseText } from "../views/story/story-lines.ts";
import type { Paint } from "./terminal-kind.ts";

/** Writes the report for people: the answer, the lines, the reasons, the runs, and the other suspects. */
export function blameText(report: BlameReport, paint: Paint): string {
  const { blame, considered, runs, seconds, unproven, base, command } = report;
  if (blame === null) return `${paint.good("The check passes")}: there is nothing to blame. (${command ?? ""})\n`;
  const sure = `${Math.round(blame.confidence * 100)} %`;
  const basis =
    blame.basis === "proven"
      ? paint.good("proven")
      : blame.shown === true
        ? `shown by removal, ${sure}`
        : considered.length === 1
          ? "the only change, not proven"
          : `ranked, ${sure}`;
  const lines = [`${paint.strong(TITLES[blameKind(blame)])} (${basis})`, blame.explanation, ""];
  const chosen = blamedHunks(report);
  for (const each of chosen.slice(0, MOST_SHOWN)) lines.push(...hunkLines(each, paint), "");
  const others = considered.filter((each) => !chosen.includes(each)).slice(0, 3);
  if (others.length > 0)
    lines.push(`Also considered: ${others.map(({ hunk }) => `${hunk.file}:${hunk.start}`).join(", ")}`);
  lines.push(
    paint.dim(`${countText(considered.length, "change")} since ${base}, ${countText(runs, "run")}, ${seconds} s`),
  );
  if (unproven !== null) lines.push(paint.dim(`Not proven: ${unproven}.`));
  return `${lines.join("\n")}\n`;
}

const MOST_SHOWN = 5;
const MOST_LINES = 12;

const TITLES: Readonly<Record<ReturnType<typeof blameKind>, string>> = {
  hunk: "This change did it",
  multi: "These changes did it, each by itself",
  joint: "These changes did it together",
  slip: "A slip in the new code",
  unmet: "Not done yet: no change broke it",
  "pre-existing": "It failed before this change",
  environment: "The environment failed, not the change",
  flaky: "It fails and passes on the same files",
  "too-broad": "Several changes cannot be told apart",
  unknown: "Unknown",
};

function hunkLines({ hunk, symbol, reasons, origin }: Considered, paint: Paint): string[] {
  const at = hunk.end > hunk.start ? `${hunk.start}-${hunk.end}` : `${hunk.start}`;
  const shown = [
    ...hunk.removed.map((line) => paint.bad(`  - ${plainText(line)}`)),
    ...hunk.added.map((line) => paint.good(`  + ${plainText(line)}`)),
  ];
  const rest = shown.length - MOST_LINES;
  return [
    `${paint.strong(`${hunk.file}:${at}`)}${symbol === null ? "" : ` in ${symbol}`}`,
    ...shown.slice(0, MOST_LINES),
    ...(rest > 0 ? [paint.dim(`  … ${countText(rest, "more line")}`)] : []),
    ...reasons.map((reason) => (reason.startsWith("although ") ? `  ${reason}` : `  because ${reason}`)),
    ...(origin === undefined ? [] : [`  from ${originText(origin)}`]),
  ];
}

/** Describes the commit, and the story and agent that it belongs to if they are known. */
function originText({ commit, subject, story, attempt, role, phase }: Origin): string {
  const by = [role, phase].filter((each) => each !== undefined).join(", ");
  const whose = [
    ...(story === undefined ? [] : [`story ${plainText(story)}`]),
    ...(attempt === undefined ? [] : [`attempt ${attempt}${by === "" ? "" : ` (${plainText(by)})`}`]),
  ];
  return [`${commit.slice(0, 10)} "${plainText(subject)}"`, ...whose].join(", ");
}

/** Prints a diff in which each line shows the attempt that wrote it, its findings, and blame. */
export function diffBlameText({ files, leftOut, elsewhere }: DiffDocument, paint: Paint): string {
  const lines = files.flatMap((file) => [...fileLines(file, paint), ""]);
  if (leftOut > 0) lines.push(paint.dim(`… ${countText(leftOut, "more line")}`));
  if (elsewhere.length > 0) lines.push("Found elsewhere:", ...elsewhere.map((card) => `  ${plainText(card.message)}`));
  return lines.length === 0 ? "" : `${lines.join("\n").trimEnd()}\n`;
}

function fileLines(file: DiffFile, paint: Paint): string[] {
  const name = file.oldPath === file.path ? file.path : `${file.oldPath} → ${file.path}`;
  const title = `${paint.strong(plainText(name))}  +${file.added} −${file.removed}`;
  if (file.isBinary) return [title, paint.dim("  (binary)")];
  return [
    title,
    ...file.hunks.flatMap(({ lines }, at) => [
      ...(at === 0 ? [] : [paint.dim("    ⋯")]),
      ...lines.flatMap((line) => formatLine(line, paint)),
    ]),
  ];
}

const SIGNS = { same: " ", added: "+", removed: "-" } as const;

function formatLine(line: ShownLine, paint: Paint): string[] {
  const who = line.attempt === null ? "    " : `#${line.attempt}`.padStart(4);
  const text = `${SIGNS[line.kind]} ${plainText(line.text)}`;
  const painted = line.kind === "added" ? paint.good(text) : line.kind === "removed" ? paint.bad(text) : text;
  return [
    `${paint.dim(who)} ${painted}`,
    ...line.blames.map((mark) => {
      const whose = whoseText(mark);
      const by = whose === "" ? "" : ` (${plainText(whose)})`;
      return paint.warn(`     └ blamed by ${mark.gate}, ${mark.basis}: ${plainText(mark.explanation)}${by}`);
    }),
    ...line.findings.map((card) => paint.warn(`     └ ${card.severity}: ${plainText(card.message)}`)),
  ];
}
