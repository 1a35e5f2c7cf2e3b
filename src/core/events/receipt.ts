import type { receiptEnvelopeSchema, receiptStatementSchema } from "../schemas/receipt.ts";
import type { Stored } from "../schemas/scalars.ts";

export const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
export const RECEIPT_TYPE = "urn:remand:receipt:1";
export const PAYLOAD_TYPE = "application/vnd.in-toto+json";

/** `acceptance`: the work was accepted. `waiver`: a person waived a gate, which alone accepts nothing. */
export const RECEIPT_KINDS = ["acceptance", "waiver"] as const;
export type ReceiptKind = (typeof RECEIPT_KINDS)[number];

/** An in-toto Statement v1 about one commit and its tree. */
export type ReceiptStatement = Stored<typeof receiptStatementSchema>;

export type ReceiptPredicate = ReceiptStatement["predicate"];

/** The last result of a gate. `waived`: it did not pass, and a person waived it. */
export type ReceiptGate = ReceiptPredicate["gates"][number];
export type LetThrough = ReceiptPredicate["letThrough"];
export type ReceiptAnswer = ReceiptPredicate["answers"][number];
export type ReceiptIsolation = ReceiptPredicate["isolation"];

/** A DSSE envelope: the statement as base64, and the signatures of these bytes. */
export type ReceiptEnvelope = Stored<typeof receiptEnvelopeSchema>;

/**
 * A public key and the period in which its receipts are valid. Times are in milliseconds since 1970; absent: no limit.
 */
export interface ReceiptKey {
  /** SHA-256 of `publicKey`. */
  readonly id: string;
  /** The 32 bytes as base64url. */
  readonly publicKey: string;
  readonly from?: number;
  readonly to?: number;
  readonly comment?: string;
}

/** How a commit is linked to a receipt. */
export const RECEIPT_MATCHES = ["commit", "tree", "merge", "squash", "earlier"] as const;
export type ReceiptMatch = (typeof RECEIPT_MATCHES)[number];

/** The result of verifying one commit. */
export interface CommitVerification {
  readonly commit: string;
  readonly subject: string;
  /** Whether the commit must have a receipt: its trailer says so, or all commits must have one. */
  readonly isRequired: boolean;
  /** `null`: no valid receipt; `problem` says what is known. */
  readonly match: ReceiptMatch | null;
  readonly receipt: VerifiedReceipt | null;
  readonly problem: string | null;
  /**
   * Whether a receipt names this commit and is invalid: the receipt was changed, moved, or signed by an unknown key.
   */
  readonly isContradicted: boolean;
}

export interface VerifiedReceipt {
  readonly ref: string;
  readonly commit: string;
  readonly key: string;
  readonly predicate: ReceiptPredicate;
}

/** The result of verifying the given commits. */
export interface CommitsDocument {
  readonly ok: boolean;
  /** Where the public keys come from: a file, or a branch. */
  readonly keysFrom: string;
  readonly keys: number;
  readonly receipts: number;
  readonly commits: readonly CommitVerification[];
}
