/** What stands in front of a line. Each mark has a sign, and the line says the same in words. */
export const MARKS = ["accepted", "rejected", "sent-back", "person", "failed", "started", "trouble", "note"] as const;
export type Mark = (typeof MARKS)[number];

/** The signs of one kind of terminal. */
export interface Glyphs {
  readonly marks: { readonly [M in Mark]: string };
  readonly pass: string;
  readonly fail: string;
  readonly waived: string;
  readonly unproven: string;
  readonly arrow: string;
  readonly dot: string;
}

export const UNICODE_GLYPHS: Glyphs = {
  marks: {
    accepted: "✔",
    rejected: "✖",
    "sent-back": "↩",
    person: "!",
    failed: "✖",
    started: "▶",
    trouble: "⚠",
    note: "·",
  },
  pass: "✔",
  fail: "✖",
  waived: "~ waived",
  unproven: "?",
  arrow: "→",
  dot: "·",
};

export const ASCII_GLYPHS: Glyphs = {
  marks: {
    accepted: "+",
    rejected: "x",
    "sent-back": "<",
    person: "!",
    failed: "x",
    started: ">",
    trouble: "*",
    note: "-",
  },
  pass: "ok",
  fail: "FAIL",
  waived: "waived",
  unproven: "?",
  arrow: "->",
  dot: "|",
};
