import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import type { ReceiptEnvelope, ReceiptStatement } from "../../core/events/receipt.ts";
import { receiptEnvelopeSchema, receiptStatementSchema } from "../../core/schemas/receipt.ts";

/** The bytes that a DSSE signature is over: the payload together with its type, so that neither can be exchanged. */
function signedBytes(payloadType: string, payload: Buffer): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `;
  return Buffer.concat([Buffer.from(head, "utf8"), payload]);
}

/** An ed25519 signature as base64. The same key and bytes give the same signature. `privateKey`: PKCS #8 as PEM. */
export function signPayload(payloadType: string, payload: Buffer, privateKey: string): string {
  return sign(null, signedBytes(payloadType, payload), createPrivateKey(privateKey)).toString("base64");
}

/** `publicKey`: its 32 bytes as base64url. */
export function isSignedBy(payloadType: string, payload: Buffer, signature: string, publicKey: string): boolean {
  const jwk = { kty: "OKP", crv: "Ed25519", x: publicKey };
  const key = createPublicKey({ key: jwk, format: "jwk" });
  return verify(null, signedBytes(payloadType, payload), key, Buffer.from(signature, "base64"));
}

export const publicKeyOf = (privateKey: string): string =>
  createPublicKey(createPrivateKey(privateKey)).export({ format: "jwk" }).x!;

/** A receipt as it was found: what it says, and the bytes that its signatures are over. */
export interface ReadReceipt {
  readonly envelope: ReceiptEnvelope;
  readonly payload: Buffer;
  readonly statement: ReceiptStatement;
}

/** Reads a receipt; says what is wrong with a text that is none. Whether its signature holds is for others to say. */
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
