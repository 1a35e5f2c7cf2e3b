import { describe, expect, test } from "vitest";
import { isKeyValidAt, keyIdOf, readReceiptKeys, receiptKeyLine } from "../../../src/parse/data/receipt-keys.ts";

const KEY = "A".repeat(43);

describe("a file of public keys", () => {
  test("has one key on each line, with its times and a comment", () => {
    const text = `# keys\n\ned25519 ${KEY}\ned25519 ${KEY} from 2026-01-01 to 2026-12-31T00:00:00Z # Ada\r\n`;
    expect(readReceiptKeys(text)).toEqual({
      problems: [],
      keys: [
        { id: keyIdOf(KEY), publicKey: KEY },
        {
          id: keyIdOf(KEY),
          publicKey: KEY,
          from: Date.parse("2026-01-01"),
          to: Date.parse("2026-12-31T00:00:00Z"),
          comment: "Ada",
        },
      ],
    });
  });

  test("reports invalid lines: they must not make a key valid", () => {
    const lines = [`rsa ${KEY}`, "ed25519 short", `ed25519 ${KEY} until 2026-01-01`, `ed25519 ${KEY} from tomorrow`];
    const { keys, problems } = readReceiptKeys(lines.join("\n"));
    expect(keys).toEqual([]);
    expect(problems).toEqual(lines.map((line, at) => `line ${at + 1} is not a key: ${line}`));
  });

  test("reads back as it was written", () => {
    const [key] = readReceiptKeys(`ed25519 ${KEY} from 2026-01-01 to 2026-12-31 # Ada`).keys;
    expect(readReceiptKeys(receiptKeyLine(key!)).keys).toEqual([key]);
  });
});

test("a key counts from its first to its last instant", () => {
  const key = { id: "", publicKey: KEY, from: 10, to: 20 };
  expect([9, 10, 20, 21].map((at) => isKeyValidAt(key, at))).toEqual([false, true, true, false]);
  expect(isKeyValidAt({ id: "", publicKey: KEY }, 0)).toBe(true);
});
