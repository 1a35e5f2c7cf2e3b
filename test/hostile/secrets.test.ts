import { describe, expect, test } from "vitest";
import { redactSecrets } from "../../src/readers/secrets.ts";

/** Texts that make a careless pattern slow: beginnings without ends, runs without breaks, names upon names. */
const PIECES = [
  "eyJ",
  "eyJa.",
  "sk-",
  "xsk-",
  "sk-a",
  "AKIA",
  "ghp_",
  "ghp_a",
  "-----BEGIN PRIVATE KEY-----",
  "-----BEGIN PRIVATE KEY-----\n-----END ",
  "-----BEGIN ",
  "password=",
  'password="',
  "password='a\"",
  "token:$",
  "token:a(",
  "token: ",
  "authorization:",
  "authorization: a ",
  "--a-a-a-a-token ",
  "--aaaaaaaaaaaaaaaaaaaa-",
  "://",
  "://a:b",
  "://a@",
  "bearer ",
  '\\\\\\"',
  " ",
  "\t",
  "a",
  "aaaa",
  "[redacted:",
];

const fill = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
const RULES = { literals: ["aaaa", "secret-value", "=pass"] };

function secondsFor(text: string): number {
  const begin = performance.now();
  redactSecrets(text, RULES);
  return (performance.now() - begin) / 1000;
}

describe("hostile text costs what its length costs", () => {
  test.each(PIECES)("%j", (piece) => {
    const small = fill(piece, 1_000_000);
    secondsFor(small);
    // What grows with the square would take sixteen times as long per character, and never end at 100 MB.
    const perMegabyte = secondsFor(fill(piece, 4_000_000)) / 4;
    expect(perMegabyte).toBeLessThan(Math.max(0.25, secondsFor(small) * 5));
    expect(perMegabyte).toBeLessThan(1.5);
  });

  test("a hundred megabytes of all of it", () => {
    const seconds = secondsFor(fill(PIECES.map((piece) => fill(piece, 3000)).join("\n"), 100_000_000));
    expect(seconds).toBeLessThan(60);
  });

  test("a hundred megabytes of an ordinary log", () => {
    const line =
      "2026-01-01T00:00:00Z  ✓ test/readers/secrets.test.ts > what is listed > goes wherever it stands (12 ms)\n";
    const seconds = secondsFor(fill(line, 100_000_000));
    expect(seconds).toBeLessThan(30);
  });
});
