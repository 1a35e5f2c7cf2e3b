import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";

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
