import { z } from "zod";
import { PHASES } from "../domain/phase.ts";
import { SHELVES } from "../domain/story.ts";
import { roleNameSchema, storyIdSchema } from "./ids.ts";
import { count, text, texts } from "./scalars.ts";

/** A unit of work, as its file defined it when the event was written. */
export const storySchema = z.strictObject({
  id: storyIdSchema,
  title: text,
  priority: z.number(),
  kind: text,
  labels: texts,
  dependsOn: z.array(storyIdSchema),
  criteria: z.array(z.strictObject({ id: text, text })),
  shelf: z.enum(SHELVES),
  body: text,
  completed: z.array(z.enum(PHASES)),
  maxReworks: count.exactOptional(),
  target: texts.exactOptional(),
  tests: texts.exactOptional(),
  role: roleNameSchema.exactOptional(),
});
