import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import {
  type ReceiptEnvelope,
  type ReceiptStatement,
  type ReceiptKey,
  type VerifiedReceipt,
  PAYLOAD_TYPE,
} from "../../core/events/receipt.ts";
import { receiptEnvelopeSchema, receiptStatementSchema } from "../../core/schemas/receipt.ts";
import { isKeyValidAt } from "../../parse/data/receipt-keys.ts";
import type { ReceiptName } from "../../adapters/git/receipts.ts";

/** The bytes that a DSSE signature covers: the payload together with its type, so that neither can be exchanged. */
function signedBytes(payloadType: string, payload: Buffer): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `;
  return Buffer.concat([Buffer.from(head, "utf8"), payload]);
}

/** Signs with ed25519, as base64. The same key and bytes give the same signature. `privateKey`: PKCS #8 as PEM. */
export function signPayload(payloadType: string, payload: Buffer, privateKey: string): string {
  return sign(null, signedBytes(payloadType, payload), createPrivateKey(privateKey)).toString("base64");
}

/** Whether the signature is valid. `publicKey`: its 32 bytes as base64url. */
export function isSignedBy(payloadType: string, payload: Buffer, signature: string, publicKey: string): boolean {
  const jwk = { kty: "OKP", crv: "Ed25519", x: publicKey };
  const key = createPublicKey({ key: jwk, format: "jwk" });
  return verify(null, signedBytes(payloadType, payload), key, Buffer.from(signature, "base64"));
}

export const publicKeyOf = (privateKey: string): string =>
  createPublicKey(createPrivateKey(privateKey)).export({ format: "jwk" }).x!;

/** A parsed receipt, and the bytes that its signatures cover. */
export interface ReadReceipt {
  readonly envelope: ReceiptEnvelope;
  readonly payload: Buffer;
  readonly statement: ReceiptStatement;
}

/** Reads a receipt, or says what is wrong with the text. Does not check the signature. */
export function readReceipt(text: string): ReadReceipt | { readonly problem: string } {
  const envelope = receiptEnvelopeSchema.safeParse(jsonOf(text));
  if (!envelope.success) return { problem: "it is not a DSSE envelope" };
  const payload = Buffer.from(envelope.data.payload, "base64");
  const statement = receiptStatementSchema.safeParse(jsonOf(payload.toString("utf8")));
  if (!statement.success)
    return { problem: `it is no statement of this version: ${statement.error.issues[0]?.path.join(".")}` };
  return { envelope: envelope.data, payload, statement: statement.data };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A receipt with a valid signature, and its subject; or what is wrong with it, as words that follow its name. */
export type CheckedReceipt =
  | { readonly ok: true; readonly receipt: VerifiedReceipt; readonly commit: string; readonly tree: string }
  | { readonly ok: false; readonly problem: string };

/** Public keys, and where they come from. */
export interface KnownKeys {
  readonly from: string;
  readonly keys: readonly ReceiptKey[];
}

export function checkReceipt(name: ReceiptName, text: string | null, known: KnownKeys): CheckedReceipt {
  const refused = (problem: string): CheckedReceipt => ({ ok: false, problem });
  if (text === null) return refused("cannot be read: its ref was moved to something else");
  const read = readReceipt(text);
  if ("problem" in read) return refused(`was changed: ${read.problem}`);
  const { statement, envelope, payload } = read;
  const { predicate, subject } = statement;
  const [{ digest: ofCommit }, { digest: ofTree }] = subject;
  const [commit, tree] = [ofCommit.gitCommit, ofTree.gitTree];
  const owners = envelope.signatures.flatMap((signature) =>
    known.keys.filter(({ id }) => id === signature.keyid).map((key) => ({ key, signature })),
  );
  if (owners.length === 0) {
    const id = envelope.signatures[0]!.keyid.slice(0, 16);
    const none = known.keys.length === 0 ? `: there is no key in ${known.from}` : ` in ${known.from}`;
    return refused(`is signed by the key ${id}, which is not known${none}`);
  }
  const signed = owners.find(({ key, signature }) => isSignedBy(PAYLOAD_TYPE, payload, signature.sig, key.publicKey));
  if (signed === undefined) return refused("was changed after it was signed: its signature does not match");
  const { key } = signed;
  if (!isKeyValidAt(key, Date.parse(predicate.signedAt)))
    return refused(`was signed at ${predicate.signedAt}, when the key ${key.id.slice(0, 16)} was not valid`);
  if (commit !== name.commit || tree !== name.tree)
    return refused(
      `is about ${commit.slice(0, 12)}, not about ${name.commit.slice(0, 12)}: it was put under another name`,
    );
  const { journal, kind } = predicate;
  if (journal.id !== name.journal || journal.position !== name.position || kind !== name.kind)
    return refused(
      `is about line ${journal.position} of the journal ${journal.id.slice(0, 8)}: it was put under another name`,
    );
  return { ok: true, receipt: { ref: name.ref, commit, key: key.id, predicate }, commit, tree };
}

/** The receipt's name for people. */
export const receiptTitle = ({ story, position, commit }: ReceiptName): string =>
  `The receipt of ${story} (line ${position}, commit ${commit.slice(0, 12)})`;
