import type { ReceiptEnvelope, ReceiptStatement } from "../../core/events/receipt.ts";
import { receiptEnvelopeSchema, receiptStatementSchema } from "../../core/schemas/receipt.ts";

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
