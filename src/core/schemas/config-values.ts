import { z } from "zod";
import { line } from "./scalars.ts";

/* The kinds of values that keys of a config file have. */

/** A key that may be left out. Editors and `docs/guide/config-keys.md` show the description. */
export function setting<Schema extends z.ZodType>(description: string, schema: Schema): z.ZodOptional<Schema> {
  return schema.describe(description).optional();
}

export const count = (least: number, most = 1000) => z.int().min(least).max(most);

export const duration = z
  .string()
  .max(50)
  .regex(/^(?:\d{1,12}(?:\.\d{1,6})?(?:ms|s|m|h|d)\s*)+$/, "a length of time such as `90s`, `5m` or `1h30m`");

export const size = z.union([
  z.int().min(1),
  z
    .string()
    .max(20)
    .regex(/^\d{1,9}(?:\.\d{1,3})?\s*[kKmM]$/, "a number such as `200000`, `200k` or `2M`"),
]);

export const money = z.number().positive().max(1_000_000);

export const percent = z.number().min(0).max(100);

export const variable = line.regex(/^[A-Za-z_]\w*$/, "the name of an environment variable");
