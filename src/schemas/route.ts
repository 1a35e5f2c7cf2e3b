import { z } from "zod";
import { PHASES, TDD_PHASES } from "../domain/phase.ts";
import { roleNameSchema } from "./ids.ts";
import { text } from "./scalars.ts";

/** Which phase and which agent role gets the brief. */
export const routeSchema = z.strictObject({
  phase: z.enum(PHASES),
  role: roleNameSchema,
  tddPhase: z.enum(TDD_PHASES).exactOptional(),
  reason: text,
});
