import type { GateName } from "../core/gates/gate.ts";
import { auditGate } from "./audit/audit-gate.ts";
import { checksGate } from "./checks/suite-gate.ts";
import { ciGate } from "./ci/ci-gate.ts";
import type { CreateGate } from "./gate-parts.ts";
import { integrityGate } from "./integrity/integrity-gate.ts";
import { mergeGate } from "./merge/merge-gate.ts";
import { mutationGate } from "./mutation/mutation-gate.ts";
import { oracleGate } from "./oracle/oracle-gate.ts";
import { reviewGate } from "./review/review-gate.ts";
import { tddGate } from "./tdd/tdd-gate.ts";

/** How to create each gate. What other code needs to know about gates is in `src/core/gates/registry.ts`. */
export const GATE_CREATORS: { readonly [G in GateName]: CreateGate } = {
  integrity: integrityGate,
  checks: checksGate,
  tdd: tddGate,
  review: reviewGate,
  audit: auditGate,
  oracle: oracleGate,
  mutation: mutationGate,
  ci: ciGate,
  merge: mergeGate,
};
