import { z } from "zod";
import { TEST_POLICIES } from "../domain/scope.ts";
import { text, texts } from "./scalars.ts";

export const scopeExceptionsSchema = z.enum(["with-rationale", "never"]);

/** What a rework may touch. */
export const scopeSchema = z.strictObject({
  allow: texts,
  deny: texts,
  restore: texts.exactOptional(),
  tests: z.enum(TEST_POLICIES),
  exceptions: scopeExceptionsSchema,
  reason: text,
});

/** A change beyond the scope, with the agent's reason. */
export const scopeExceptionSchema = z.strictObject({ path: text, rationale: text });
