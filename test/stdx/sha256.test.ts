import { describe, expect, it } from "vitest";
import { sha256 } from "../../src/stdx/sha256.ts";

describe("sha256", () => {
  // Stored identities depend on these bytes.
  it.each([
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    ["日本語", "77710aedc74ecfa33685e33a6c7df5cc83004da1bdcef7fb280f5c2b2e97e0a5"],
    ["a\ud800b", "05087813392efc16fe8ff448920c6328e53af865df39419436659d9ffda90f7b"],
  ])("is the hex digest of the UTF-8 bytes of %j", (text, digest) => {
    expect(sha256(text)).toBe(digest);
  });
});
