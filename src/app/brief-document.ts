import type { Brief } from "../core/stories/brief.ts";
import { RemandError } from "../core/events/error.ts";
import { readBriefDocument, BRIEF_DOCUMENT } from "../core/schemas/brief.ts";
import { canonicalJson } from "../stdx/canonical-json.ts";
import { sha256 } from "../stdx/sha256.ts";
import { SMALLEST_BRIEF_CHARS, writeBriefWithCuts, type WrittenBrief } from "../write/briefs/brief.ts";
import { NONCE_PATTERN } from "../write/untrusted-text.ts";

export interface BriefSpec {
  /** The mark of the fences; without it, one is made from the document. */
  readonly nonce?: string | undefined;
  readonly maxChars?: number | undefined;
}

/** Writes a brief's text from a document `remand.brief/1`; `where` names the document in error messages. */
export function writeBriefFromDocument(
  value: unknown,
  where: string,
  { nonce, maxChars }: BriefSpec,
  names = { nonce: "nonce", maxChars: "maxChars" },
): WrittenBrief {
  if (nonce !== undefined && !NONCE_PATTERN.test(nonce)) {
    throw new RemandError(
      "usage",
      `${names.nonce} has 8 to 64 letters and digits`,
      "Leave it out to have one made from the document.",
    );
  }
  if (maxChars !== undefined && !(Number.isSafeInteger(maxChars) && maxChars >= SMALLEST_BRIEF_CHARS)) {
    throw new RemandError(
      "usage",
      `${names.maxChars} is not a whole number of at least ${SMALLEST_BRIEF_CHARS}`,
      "Shorter than that, the headings and the scope alone would not fit.",
    );
  }
  const brief = briefFrom(value, where);
  return writeBriefWithCuts(brief, {
    nonce: nonce ?? nonceFrom(brief),
    ...(maxChars === undefined ? {} : { maxChars }),
  });
}

/**
 * Derives the nonce from the content, so that the same document gives the same bytes. A text that contained the nonce
 * of its own brief would have to contain a hash of itself.
 */
function nonceFrom(brief: Brief): string {
  return sha256(canonicalJson(brief)).slice(0, 16);
}

function briefFrom(value: unknown, where: string): Brief {
  const read = readBriefDocument(value);
  if ("brief" in read) return read.brief;
  const problems = read.problems.slice(0, MOST_PROBLEMS);
  const more = read.problems.length > MOST_PROBLEMS ? [`and ${read.problems.length - MOST_PROBLEMS} more`] : [];
  throw new RemandError(
    "input-invalid",
    [`${where} is not a brief:`, ...problems, ...more].join("\n  "),
    `Only "schema": "${BRIEF_DOCUMENT}" and story.id are needed; everything else has a default.`,
  );
}

const MOST_PROBLEMS = 20;
