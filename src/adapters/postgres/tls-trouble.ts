import type { ErrorCode } from "../../domain/error.ts";

/** What is wrong, and what to do about it. */
export type Known = readonly [code: ErrorCode, what: string, hint: string];

/** What is wrong with the encryption, where that is it: the server's own word for it is that of a wrong password. */
export function tlsTrouble(error: unknown, code: string): Known | null {
  const words = error instanceof Error ? error.message : "";
  if (code === "28000" && /no encryption|SSL off/i.test(words)) return DEMANDED;
  if (code === "" && words.includes("does not support SSL")) return UNKNOWN_THERE;
  return CERTIFICATE_CODES.has(code) ? CERTIFICATE : null;
}

const DEMANDED: Known = [
  "journal-refused",
  "refuses connections without TLS, or this user without it",
  "Ask for it in the address: ?sslmode=verify-full; with a certificate of its own also &sslrootcert=<file>.",
];
const UNKNOWN_THERE: Known = [
  "journal-refused",
  "knows no TLS, and the address asks for it",
  "Turn it on at the server (ssl = on), or take sslmode out of the address where the network is your own.",
];
const CERTIFICATE: Known = [
  "journal-refused",
  "shows a certificate that this machine does not trust",
  "Name who signed it in the address: ?sslmode=verify-full&sslrootcert=<file>; or ?sslmode=no-verify where the network is your own.",
];

const CERTIFICATE_CODES: ReadonlySet<string> = new Set([
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "CERT_HAS_EXPIRED",
]);
