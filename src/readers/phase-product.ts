import { counted } from "../domain/counted.ts";
import { SIGNALS } from "../domain/signal.ts";
import { markdownLines } from "../stdx/markdown-lines.ts";
import { plainText } from "../stdx/plain-text.ts";

/**
 * What an agent's message says under this heading: everything behind the first such heading outside code, whatever
 * its level and whatever headings follow, up to the signal that ends the message. Agents number and nest their headings
 * as they like; the signal is the one line whose form is fixed. `null` where there is no such heading, or nothing under it.
 */
export function readPhaseProduct(message: string, heading: string): string | null {
  const text = plainText(message);
  let start = -1;
  let end = text.length;
  for (const line of markdownLines(text)) {
    if (start < 0) {
      if (line.kind === "heading" && isNamed(line.title, heading)) start = line.end;
    } else if (line.kind === "text" && SIGNAL_LINE.test(line.text)) {
      end = line.start;
      break;
    }
  }
  const product = start < 0 ? "" : text.slice(start, end).trim();
  return product === "" ? null : capped(product);
}

const SIGNAL_LINE = new RegExp(`^(?:${SIGNALS.join("|")})(?![\\w])`);

/** `Research`, `Research: the payment service`, `1. Research` and `**Research**` are all the section that was asked for. */
function isNamed(title: string, heading: string): boolean {
  // A heading is short; what is longer is cut, so that no run of marks can cost more than its own length.
  const bare = title
    .slice(0, 200)
    .replace(/^[\d.)\s*_`]+/, "")
    .replace(/[*_`\s]+$/, "")
    .toLowerCase();
  const name = heading.toLowerCase();
  return bare === name || (bare.startsWith(name) && /^[*_`]*\s*[:\u2013\u2014-]/.test(bare.slice(name.length)));
}

/** More than anybody reads, and less than what makes a repository heavy. */
const MOST_CHARS = 200_000;

function capped(product: string): string {
  if (product.length <= MOST_CHARS) return product;
  return `${product.slice(0, MOST_CHARS)}\n\n… ${counted(product.length - MOST_CHARS, "character")} left out …`;
}
