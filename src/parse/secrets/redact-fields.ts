import { isMachineField, isMachineObject } from "../../core/events/machine-fields.ts";

/** Every text in a value, through `redact`. The value itself comes back where nothing had to be taken out. */
export function redactTexts<T>(value: T, redact: (text: string) => string): T {
  return walk(value, "", "", { redact, isKept: () => false }) as T;
}

/** The same for events and what is made of them: ids, paths and words of a list stay as they are. */
export function redactFields<T>(value: T, redact: (text: string) => string): T {
  return walk(value, "", "", { redact, isKept: isMachineField }) as T;
}

interface Walk {
  redact(text: string): string;
  isKept(parent: string, name: string): boolean;
}

function walk(value: unknown, parent: string, name: string, how: Walk): unknown {
  if (typeof value === "string") return how.isKept(parent, name) ? value : how.redact(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => walk(item, parent, name, how));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  const isMachine = how.isKept === isMachineField && isMachineObject(parent, name);
  return isMachine ? value : walkObject(value as Record<string, unknown>, name, how);
}

function walkObject(value: Record<string, unknown>, name: string, how: Walk): unknown {
  let isChanged = false;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
    // Reviewers choose the names of these; every other name is one of ours, or of the config.
    const kept = name === "quality" ? how.redact(key) : key;
    const clean = walk(item, name, key, how);
    isChanged ||= clean !== item || kept !== key;
    return [kept, clean];
  });
  return isChanged ? Object.fromEntries(entries) : value;
}
