import { z } from "zod";
import { amount, count, text } from "./scalars.ts";

/** A conversation that can be gone on with, as the agent's adapter named it. */
export const sessionSchema = z.strictObject({
  agent: text,
  id: text,
  host: text.exactOptional(),
  totals: z
    .strictObject({
      tokens: count,
      costUsd: amount.exactOptional(),
      input: count.exactOptional(),
      cached: count.exactOptional(),
    })
    .exactOptional(),
});
