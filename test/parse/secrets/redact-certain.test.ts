import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findPrivateKeys } from "../../../src/parse/secrets/secret-tokens.ts";
import { mayHoldSecret, redactCertain } from "../../../src/parse/secrets/secrets.ts";

/** Made up here, out of parts, so that no scanner of repositories takes this file for a leak. */
const TOKEN = `ghp_${"aB3dE6gH9kL2".repeat(3)}`;
const VALUE = "correct-horse/battery+staple?9";
const LISTED = "[redacted:listed]";
const clean = (text: string, literals: readonly string[] = [VALUE]): string => redactCertain(text, { literals });

describe("a listed value is removed in every form", () => {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const odd = `${VALUE}"\\/ü€`;
  test.each([
    ["as it is", VALUE],
    ["in a URL", encodeURIComponent(VALUE)],
    ["in a URL, small letters", encodeURIComponent(VALUE).toLowerCase()],
    ["in base64", base64(VALUE).replace(/=+$/, "")],
    ["in base64 for URLs", Buffer.from(VALUE).toString("base64url")],
    ["in JSON", JSON.stringify(odd)],
    ["in JSON in JSON", JSON.stringify(JSON.stringify({ value: odd }))],
    ["in JSON of ASCII alone", JSON.stringify(odd).replaceAll("ü", "\\u00fc").replaceAll("€", "\\u20ac")],
  ])("%s", (_, written) => {
    const found = clean(`before ${written} after`, [VALUE, odd]);
    expect(found).toContain(LISTED);
    for (const part of ["correct", "battery", "staple", written]) expect(found).not.toContain(part);
    expect(mayHoldSecret(written, { literals: [VALUE, odd] })).toBe(true);
  });

  test("in base64 after a user name of any length, as a login is sent", () => {
    for (const user of ["", "a", "ab", "abc", "abcd"]) {
      const sent = base64(`${user}:${VALUE}`);
      const left = clean(`Basic ${sent}`).replace(LISTED, "");
      expect(left.length, left).toBeLessThanOrEqual("Basic ".length + 14);
    }
  });

  test("with color codes or invisible characters in it", () => {
    const colored = `${VALUE.slice(0, 9)}\u001b[32m${VALUE.slice(9)}`;
    const hidden = `${TOKEN.slice(0, 7)}\u200b${TOKEN.slice(7)}`;
    expect(clean(`a ${colored}\u001b[0m ${hidden} b`)).toBe(`a ${LISTED}\u001b[0m [redacted:github-token] b`);
    expect(mayHoldSecret(JSON.stringify(colored), { literals: [VALUE] })).toBe(true);
    expect(mayHoldSecret(JSON.stringify(hidden), { literals: [VALUE] })).toBe(true);
  });
});

test("a private key whose beginning was cut off is removed from the start of its text", () => {
  const body = `${"aB3dE6gH9kL2nP5r".repeat(4)}\n`.repeat(3);
  expect(clean(`a line before it\n${body}-----END RSA PRIVATE KEY-----\nafter`)).toBe(
    "a line before it\n[redacted:private-key]\nafter",
  );
});

test("a whole private key is found once", () => {
  const key = `-----BEGIN PRIVATE KEY-----\n${"aB3dE6gH9kL2nP5r".repeat(4)}\n-----END PRIVATE KEY-----`;
  expect(findPrivateKeys(`a\n${key}\nb\n${key}`)).toHaveLength(2);
});

test("passwords in URLs are removed, and guesses by name stay", () => {
  expect(clean("postgres://me:s3cret@db/x and password=hunter2")).toBe(
    "postgres://me:[redacted:url-password]@db/x and password=hunter2",
  );
});

describe("stored text is not changed by mistake", () => {
  const hex = (length: number): fc.Arbitrary<string> =>
    fc.string({ minLength: length, maxLength: length, unit: fc.constantFrom(..."0123456789abcdef") });
  const name = fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(..."abcXYZ019_-.") });
  const harmless = fc.oneof(
    hex(40),
    hex(64),
    fc.uuid(),
    fc.array(name, { minLength: 1, maxLength: 6 }).map((parts) => parts.join("/")),
    fc.double({ min: 0, max: 1e6, noNaN: true }).map((usd) => `$${usd.toFixed(2)}`),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    fc.constantFrom("remand/story-1", "failures:review", "https://github.com/owner/name/pull/12", "git@host:a/b.git"),
  );

  test("commit ids, hashes, UUIDs, paths, amounts and times stay", () => {
    fc.assert(
      fc.property(fc.array(harmless, { maxLength: 8 }), (parts) => {
        const text = parts.join(" ");
        expect(clean(text)).toBe(text);
      }),
      { numRuns: 3000 },
    );
  });

  const piece = fc.oneof(
    fc.constantFrom(
      TOKEN,
      VALUE,
      "://",
      "@",
      ":",
      "[redacted:listed]",
      "-----BEGIN PRIVATE KEY-----",
      "\n",
      "\u001b[1m",
    ),
    fc.constantFrom("-----END PRIVATE KEY-----", "eyJhbGciOiJIUzI1NiJ9", ".", "sk-", "AKIA", " ", "redacted", "[", "]"),
    fc.string({ maxLength: 8 }),
    harmless,
  );

  test("redacting twice changes nothing more, no known secret is left, and the quick check misses none", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 16 }), fc.constantFrom("", " "), (pieces, between) => {
        const text = pieces.join(between);
        const once = clean(text);
        expect(clean(once)).toBe(once);
        expect(once.includes(VALUE)).toBe(false);
        if (once !== text) {
          expect(mayHoldSecret(text, { literals: [VALUE] })).toBe(true);
          expect(mayHoldSecret(JSON.stringify({ text }), { literals: [VALUE] })).toBe(true);
        }
      }),
      { numRuns: 3000 },
    );
  });
});

test("a log of many megabytes with secrets in it is redacted in linear time and without copies of it", () => {
  const line = `2026-01-01 request with ${TOKEN} and ${VALUE} and postgres://me:s3cret@db/x took 12 ms\n`;
  const timed = (megabytes: number): { ms: number; text: string } => {
    const log = line.repeat(Math.ceil((megabytes * 1024 * 1024) / line.length));
    const begin = performance.now();
    const text = clean(log);
    return { ms: performance.now() - begin, text };
  };
  timed(2);
  const small = timed(4);
  const large = timed(24);
  expect(large.ms).toBeLessThan(Math.max(small.ms, 50) * 6 * 3);
  expect(large.text).not.toContain(TOKEN);
  expect(large.text).not.toContain(VALUE);
  expect(large.text).not.toContain("s3cret");
  expect(large.text.split("\n")).toHaveLength(Math.ceil((24 * 1024 * 1024) / line.length) + 1);
});

test("a secret is found wherever a window of a long text ends", () => {
  for (const at of [1024 * 1024 - 20, 1024 * 1024 - 1, 1024 * 1024, 1024 * 1024 + 1]) {
    const text = `${"x".repeat(at)} ${TOKEN} ${"y".repeat(300_000)}`;
    expect(clean(text)).toBe(`${"x".repeat(at)} [redacted:github-token] ${"y".repeat(300_000)}`);
  }
});
