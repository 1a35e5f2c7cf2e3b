/** A span of a text. */
export interface AddedSpan {
  readonly at: number;
  readonly length: number;
}

/** A text to which pieces were added, but from which none were removed. */
export interface GrownText {
  readonly text: string;
  /** The added spans in order; positions are those of `text`. */
  readonly added: readonly AddedSpan[];
}

/** Inserts a piece and records its span. A piece inside an earlier one becomes part of that one. */
export function grow({ text, added }: GrownText, at: number, piece: string): GrownText {
  const length = piece.length;
  if (length === 0) return { text, added };
  const spans: AddedSpan[] = [];
  let isInside = false;
  for (const span of added) {
    const end = span.at + span.length;
    if (at >= span.at && at <= end && !isInside) {
      isInside = true;
      spans.push({ at: span.at, length: span.length + length });
    } else spans.push(span.at >= at ? { at: span.at + length, length: span.length } : span);
  }
  if (!isInside) spans.push({ at, length });
  return { text: text.slice(0, at) + piece + text.slice(at), added: spans.toSorted((a, b) => a.at - b.at) };
}

/** The text without these spans, which are in order and do not overlap. */
export function without(text: string, spans: readonly AddedSpan[]): string {
  let out = "";
  let from = 0;
  for (const { at, length } of spans) {
    out += text.slice(from, at);
    from = at + length;
  }
  return out + text.slice(from);
}
