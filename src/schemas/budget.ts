import { z } from "zod";
import { GATES } from "../domain/gate.ts";

/** The name of a limit with a counter: `failures:review`, `cost`, `run-time`. */
export const budgetNameSchema = z.enum([
  ...GATES.map((gate) => `failures:${gate}` as const),
  "iterations",
  "location",
  "cost",
  "tokens",
  "time",
  "run-cost",
  "run-tokens",
  "run-time",
]);
