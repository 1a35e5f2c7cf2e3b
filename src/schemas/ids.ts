import { z } from "zod";
import {
  STORY_ID_PATTERN,
  type EscalationId,
  type EvidenceId,
  type Fingerprint,
  type RoleName,
  type StoryId,
  type TreeId,
} from "../domain/ids.ts";

/*
 * The one place where text that was read becomes a branded id. A brand exists for the compiler alone, so the
 * schema stays a plain check of a string and only its type is changed.
 */
export const storyIdSchema = branded<StoryId>(
  z.string().regex(STORY_ID_PATTERN, { error: "an id has letters, digits, dots, dashes and underscores, at most 100" }),
);
export const escalationIdSchema = branded<EscalationId>(z.string().min(1));
export const fingerprintSchema = branded<Fingerprint>(z.string().min(1));
export const treeIdSchema = branded<TreeId>(z.string().min(1));
export const evidenceIdSchema = branded<EvidenceId>(z.string().min(1));
export const roleNameSchema = branded<RoleName>(z.string().min(1));

function branded<Id extends string>(schema: z.ZodString): z.ZodType<Id, string> {
  return schema as unknown as z.ZodType<Id, string>;
}
