import type { Reading } from "../../core/stories/reading.ts";
import { plainText } from "../../stdx/plain-text.ts";
import { nextLine } from "./notable-lines.ts";
import { scanSignals } from "./signal-scan.ts";

/** A message without the lines that hold the prompt's nonce alone: they are no part of what it says. */
export function withoutNonceLines(text: string, nonce: string): string {
  if (!text.includes(nonce)) return text;
  return text
    .split("\n")
    .filter((line) => !isNonce(line, nonce))
    .join("\n");
}

/**
 * Why a message that was read as a verdict is none; `null` where it is one. A signal, or a verdict as data, counts only
 * with the prompt's nonce on the line after it: what a reviewer repeats from the work cannot know that. Words that
 * plainly reject the work open no gate, and need none.
 */
export function missingNonce(text: string, reading: Reading, expected: { id: string; nonce: string }): string | null {
  const { nonce } = expected;
  if (reading.kind === "signal" && reading.signal !== null) {
    const end = scanSignals(text, expected.id).own.get(reading.signal)?.end ?? text.length;
    if (isNonce(text.slice(end, nextLine(text, end)), nonce)) return null;
    return `The line after ${reading.signal} is not the nonce of the prompt.`;
  }
  if (reading.kind !== "verdict") return null;
  const last = text.trimEnd();
  if (isNonce(last.slice(last.lastIndexOf("\n") + 1), nonce)) return null;
  return "The line after the verdict is not the nonce of the prompt.";
}

/** Models like to put such things in backticks. */
const isNonce = (line: string, nonce: string): boolean =>
  line.length < nonce.length + 40 &&
  plainText(line)
    .trim()
    .replace(/^`(.*)`$/, "$1") === nonce;
