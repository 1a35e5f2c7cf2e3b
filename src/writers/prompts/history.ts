import type { HistoryRequest } from "../../domain/prompt.ts";
import { triedLines } from "../briefs/parts.ts";
import { evidenceFence, line, restOf, section, together, type Pen, type Piece } from "../briefs/pen.ts";
import { dataNotice } from "../untrusted-text.ts";
import { promptPen } from "./sheet.ts";

/** Stands before a brief or an assignment, for an agent that would have known this from its own conversation. */
export function writeHistory(request: HistoryRequest, options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  const { message } = request;
  return `${together([
    "## What Was Done Before",
    INTRODUCTION,
    dataNotice(pen.nonce),
    attempts(request, pen),
    message.trim() === ""
      ? ""
      : section("### What the Last Attempt Said", evidenceFence(pen, message, "its last message")),
    "---",
  ])}\n`;
}

const INTRODUCTION = [
  "You have worked on this story before, in a conversation that is on another machine and cannot be gone on with.",
  "The files here are as that work left them, and `git log` shows each attempt as a commit of its own. What you are",
  "to do now follows below.",
].join("\n");

function attempts({ attempts: all }: HistoryRequest, pen: Pen): Piece {
  const shown = all.slice(-pen.room.earlier);
  const short = { ...pen, room: { ...pen.room, itemChars: pen.room.earlierChars } };
  const lines = shown.map((each) => {
    const { attempt, phase, summary, failed } = each;
    const end = failed === "" ? "nothing was said against it yet" : line(short, failed);
    const text = `- Attempt ${attempt} (${phase}): ${summary === "" ? "no summary" : line(short, summary)} -> ${end}`;
    return [text, ...triedLines(each, short)].join("\n");
  });
  return [...restOf(pen, all.length - shown.length, "earlier attempts"), ...lines].join("\n");
}
