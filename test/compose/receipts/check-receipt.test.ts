/* A receipt is valid if its bytes, key, time and name agree; each mismatch is reported. */
import { generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ReceiptName } from "../../../src/adapters/git/receipts.ts";
import { isSignedBy, publicKeyOf, signPayload, checkReceipt } from "../../../src/compose/receipts/check-receipt.ts";
import { treeId } from "../../../src/core/events/ids.ts";
import { PAYLOAD_TYPE, RECEIPT_TYPE, STATEMENT_TYPE, type ReceiptKey } from "../../../src/core/events/receipt.ts";
import { keyIdOf } from "../../../src/parse/data/receipt-keys.ts";

const newKey = (): string =>
  generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }) as string;
const PRIVATE = newKey();
const PUBLIC = publicKeyOf(PRIVATE);
const KEY: ReceiptKey = { id: keyIdOf(PUBLIC), publicKey: PUBLIC };
const COMMIT = "a".repeat(40);
const TREE = "b".repeat(40);
const JOURNAL = "c".repeat(32);

const NAME: ReceiptName = {
  ref: "refs/remand/receipts/x",
  object: "d".repeat(40),
  journal: JOURNAL,
  position: 7,
  kind: "acceptance",
  commit: COMMIT,
  tree: treeId(TREE),
  story: "cart",
};

const STATEMENT = {
  _type: STATEMENT_TYPE,
  subject: [
    { name: "commit", digest: { gitCommit: COMMIT } },
    { name: "tree", digest: { gitTree: TREE } },
  ],
  predicateType: RECEIPT_TYPE,
  predicate: {
    kind: "acceptance",
    at: "2026-11-01T10:00:00.000Z",
    signedAt: "2026-11-01T10:00:01.000Z",
    story: { id: "cart", title: "The cart adds" },
    base: "",
    commits: [COMMIT],
    gates: [{ gate: "checks", result: "pass", tree: TREE, summary: "checks: pass", evidence: [] }],
    letThrough: { notes: [], waived: [], contested: [], licensed: [], knownFailures: [] },
    answers: [],
    isolation: { agents: [], isKeyExposed: false, meaning: "" },
    journal: { id: JOURNAL, position: 7, hash: "e".repeat(64) },
    policy: "f".repeat(64),
    remand: "0.1.0",
  },
};

/** An envelope around any statement. */
function envelope(statement: object, privateKey = PRIVATE, keyid = KEY.id): string {
  const payload = Buffer.from(JSON.stringify(statement));
  const sig = signPayload(PAYLOAD_TYPE, payload, privateKey);
  return JSON.stringify({
    payloadType: PAYLOAD_TYPE,
    payload: payload.toString("base64"),
    signatures: [{ keyid, sig }],
  });
}

const problemOf = (text: string | null, name = NAME, keys: readonly ReceiptKey[] = [KEY]): string | null => {
  const checked = checkReceipt(name, text, { from: "remand.keys", keys });
  return checked.ok ? null : checked.problem;
};

test("signatures cover the bytes that DSSE defines", () => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  const payload = Buffer.from("hello world");
  const bytes = Buffer.from("DSSEv1 29 http://example.com/HelloWorld 11 hello world");
  const signature = sign(null, bytes, privateKey).toString("base64");
  expect(signPayload("http://example.com/HelloWorld", payload, pem)).toBe(signature);
  expect(isSignedBy("http://example.com/HelloWorld", payload, signature, publicKeyOf(pem))).toBe(true);
  expect(isSignedBy("http://example.com/Hello", payload, signature, publicKeyOf(pem))).toBe(false);
});

describe("a receipt", () => {
  const text = envelope(STATEMENT);
  const { predicate } = STATEMENT;

  test("that is unchanged is valid, and names its subject", () => {
    expect(checkReceipt(NAME, text, { from: "remand.keys", keys: [KEY] })).toMatchObject({
      ok: true,
      commit: COMMIT,
      tree: TREE,
      receipt: { key: KEY.id, predicate: { story: { id: "cart" } } },
    });
  });

  test("whose named key did not sign is invalid, and one with a second signature is valid", () => {
    const other = newKey();
    expect(problemOf(envelope(STATEMENT, other))).toContain("its signature does not match");
    const own = JSON.parse(text) as { signatures: object[] };
    const theirs = JSON.parse(envelope(STATEMENT, other, keyIdOf(publicKeyOf(other)))) as { signatures: object[] };
    const both = { ...own, signatures: [...theirs.signatures, ...own.signatures] };
    expect(problemOf(JSON.stringify(both))).toBeNull();
  });

  test.each([
    ["is gone", null, NAME, [KEY], "its ref was moved to something else"],
    ["is no envelope", "{}", NAME, [KEY], "it is not a DSSE envelope"],
    ["is cut", text.slice(0, -10), NAME, [KEY], "it is not a DSSE envelope"],
    ["says less", envelope({ ...STATEMENT, predicate: {} }), NAME, [KEY], "it is no statement of this version"],
    ["has an unknown key", text, NAME, [], "there is no key in remand.keys"],
    ["was signed before its key", text, NAME, [{ ...KEY, from: Date.parse("2026-11-02") }], "was not valid"],
    ["was signed after its key", text, NAME, [{ ...KEY, to: Date.parse("2026-10-31") }], "was not valid"],
    ["is about another commit", text, { ...NAME, commit: "1".repeat(40) }, [KEY], "put under another name"],
    ["is about another tree", text, { ...NAME, tree: treeId("1".repeat(40)) }, [KEY], "put under another name"],
    ["is about another line", text, { ...NAME, position: 8 }, [KEY], "put under another name"],
    ["is about another journal", text, { ...NAME, journal: "1".repeat(32) }, [KEY], "put under another name"],
    ["is of another kind", text, { ...NAME, kind: "waiver" as const }, [KEY], "put under another name"],
  ])("that %s is invalid", (_what, found, name, keys, problem) => {
    expect(problemOf(found, name, keys)).toContain(problem);
  });

  test("with any word changed after signing is invalid", () => {
    const signed = JSON.parse(text) as { payload: string };
    for (const changed of [
      { ...STATEMENT, predicate: { ...predicate, gates: [] } },
      { ...STATEMENT, predicate: { ...predicate, signedAt: "2026-11-01T10:00:02.000Z" } },
      { ...STATEMENT, predicate: { ...predicate, letThrough: { ...predicate.letThrough, notes: ["nothing"] } } },
    ]) {
      const payload = Buffer.from(JSON.stringify(changed)).toString("base64");
      expect(problemOf(JSON.stringify({ ...signed, payload }))).toContain("its signature does not match");
    }
  });
});
