import { describe, test } from "vitest";
import { redactSecrets } from "../../src/parse/secrets/secrets.ts";
import { expectLinearCost } from "../cpu-cost.ts";

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

function expectLinear(piece: string, length: number): void {
  expectLinearCost(length, (n) => {
    const text = fill(piece, n);
    return () => redactSecrets(text, RULES);
  });
}

describe("hostile text costs what its length costs", () => {
  // A quarter of it is more than one window of the reader: less is read in one piece, which costs less for each letter.
  test.each(PIECES)("%j", (piece) => expectLinear(piece, 8_000_000));

  test("a hundred megabytes of all of it", () => {
    expectLinear(PIECES.map((piece) => fill(piece, 3000)).join("\n"), 100_000_000);
  });

  test("a hundred megabytes of an ordinary log", () => {
    const line =
      "2026-01-01T00:00:00Z  ✓ test/parse/secrets/secrets.test.ts > what is listed > goes wherever it stands (12 ms)\n";
    expectLinear(line, 100_000_000);
  });
});
