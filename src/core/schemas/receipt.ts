import { z } from "zod";
import { RESULTS } from "../events/error.ts";
import { IDENTITIES } from "../events/authority.ts";
import { PAYLOAD_TYPE, RECEIPT_KINDS, RECEIPT_TYPE, STATEMENT_TYPE } from "../events/receipt.ts";
import { GATES } from "../gates/gate.ts";
import { ANSWER_VERBS } from "../stories/escalation.ts";
import { knownFailureSchema } from "./policy.ts";
import { count, evidenceIdSchema, fingerprintSchema, storyIdSchema, text, texts, treeIdSchema } from "./scalars.ts";

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const gitId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
const instant = z.iso.datetime();
const identity = z.enum(IDENTITIES);
const gate = z.enum(GATES);

const letThroughSchema = z.strictObject({
  notes: texts.describe("As on the accept line: known failures, tests that were not shown to fail, and the like."),
  waived: z.array(
    z.strictObject({
      gate,
      findings: z.array(fingerprintSchema),
      by: text,
      identity: identity.exactOptional(),
      reason: text,
    }),
  ),
  contested: texts.describe("Tests of the base that the work changed, as the gates named them."),
  licensed: z.array(z.strictObject({ test: text, by: text, reason: text })),
  knownFailures: z.array(knownFailureSchema),
  forced: z
    .strictObject({ by: text, reason: text })
    .exactOptional()
    .describe("A person accepted the work although gates had not passed."),
});

/** The predicate of a receipt. */
export const receiptPredicateSchema = z.strictObject({
  kind: z
    .enum(RECEIPT_KINDS)
    .describe("acceptance: the work was accepted. waiver: a person let a gate through, which accepts nothing."),
  at: instant.describe("When the journal's line was written."),
  signedAt: instant.describe("When it was signed: the key must be valid then."),
  story: z.strictObject({ id: storyIdSchema, title: text }),
  base: z.union([gitId, z.literal("")]).describe("The commit that the work started from."),
  commits: z.array(gitId).describe("The story's commits up to the subject, oldest first."),
  gates: z.array(
    z.strictObject({
      gate,
      result: z.enum([...RESULTS, "waived"]),
      tree: treeIdSchema.describe("What it looked at: an earlier tree where later changes did not concern the gate."),
      summary: text,
      evidence: z.array(evidenceIdSchema).describe("SHA-256 of each text that was kept."),
    }),
  ),
  letThrough: letThroughSchema,
  answers: z.array(z.strictObject({ verb: z.enum(ANSWER_VERBS), by: text, identity, message: text, at: instant })),
  isolation: z.strictObject({
    agents: texts,
    isKeyExposed: z.boolean().describe("An agent could have read the key that signs receipts."),
    meaning: text,
  }),
  journal: z.strictObject({ id: z.string().regex(/^[0-9a-f]{32}$/), position: count, hash: digest }),
  policy: digest.describe("SHA-256 of the story's policy as canonical JSON."),
  remand: text.describe("The version of Remand."),
});

/** An in-toto Statement v1 about one commit and its tree. */
export const receiptStatementSchema = z.strictObject({
  _type: z.literal(STATEMENT_TYPE),
  subject: z.tuple([
    z.strictObject({ name: text, digest: z.strictObject({ gitCommit: gitId }) }),
    z.strictObject({ name: text, digest: z.strictObject({ gitTree: gitId }) }),
  ]),
  predicateType: z.literal(RECEIPT_TYPE),
  predicate: receiptPredicateSchema,
});

export const receiptEnvelopeSchema = z.strictObject({
  payloadType: z.literal(PAYLOAD_TYPE),
  payload: z.base64(),
  signatures: z.array(z.strictObject({ keyid: digest, sig: z.base64() })).min(1),
});
