import { z } from "zod";

/**
 * Values by a name that people, or agents, chose. `__proto__` is no such name: zod would leave it out without a word,
 * and what was stored would not be what is read.
 */
export function byName<Key extends z.core.$ZodRecordKey, Value extends z.ZodType>(
  key: Key,
  value: Value,
): z.ZodPipe<z.ZodCustom<z.input<z.ZodRecord<Key, Value>>>, z.ZodRecord<Key, Value>> {
  return z
    .custom<z.input<z.ZodRecord<Key, Value>>>((given) => !(isObject(given) && Object.hasOwn(given, "__proto__")), {
      error: "`__proto__` cannot be a name here",
    })
    .pipe(z.record(key, value));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
