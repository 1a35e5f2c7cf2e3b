import { z } from "zod";
import { TRIED_FINDING_STATUSES } from "../domain/tried-finding.ts";
import { count, text } from "./scalars.ts";

/** One earlier attempt: what was tried, why it was rejected, and what became of each finding. */
export const triedAndFailedSchema = z.strictObject({
  attempt: count,
  tried: text,
  failed: text,
  findings: z
    .array(
      z.strictObject({
        id: text,
        gate: text,
        title: text,
        file: text.exactOptional(),
        line: count.exactOptional(),
        status: z.enum(TRIED_FINDING_STATUSES),
        seenIn: count,
      }),
    )
    .exactOptional(),
  findingsLeftOut: count.exactOptional(),
});
