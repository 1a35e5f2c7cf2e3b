import { counted } from "../domain/counted.ts";
import type { AttemptStarted } from "../domain/event.ts";
import { shortLine } from "./words.ts";

/** The model that an attempt was given, where one was named. */
export function modelWords({ model }: AttemptStarted): string {
  return model === undefined ? "" : ` (${shortLine(model, 60)})`;
}

/** What was different about it, and why: another model, another conversation. */
export function unusualWords({ stronger, fresh }: AttemptStarted): string {
  return [
    ...(stronger === undefined ? [] : [`, the stronger model after ${counted(stronger.failures, "failure")}`]),
    ...(fresh === undefined
      ? []
      : [`, a new conversation after ${counted(fresh.failures, "failure")} in the last one`]),
  ].join("");
}
