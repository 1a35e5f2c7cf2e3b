import { basename } from "node:path";
import type { RunPlan } from "../cli/host.ts";
import type { Config } from "../config/config.ts";
import type { Journal } from "../ports/journal.ts";
import type { ReminderNote } from "../ports/reminder-note.ts";
import type { Watcher } from "../ports/watcher.ts";
import { redactSecrets } from "../readers/secrets.ts";
import { createSystemClock } from "../adapters/clock/system-clock.ts";
import { createReminderNote } from "../adapters/journal/reminder-note.ts";
import { createDoorbell, type Doorbell } from "./doorbell.ts";
import { outletsOf } from "./notifiers.ts";
import { envSecrets, listedSecrets } from "./project-evidence.ts";
import type { SenderParts } from "./send-notices.ts";
import { stateFolder } from "./state-folder.ts";

/** The doorbell of a checkout: whom its config names, and without what its `.env` files hold. */
export async function doorbellOf(
  root: string,
  { config, onNotice }: Pick<RunPlan, "config" | "onNotice">,
  env: Readonly<Record<string, string | undefined>>,
  parts: { readonly journal: Pick<Journal, "read">; readonly watcher: Watcher },
): Promise<Doorbell> {
  const sending = await sendingOf(root, config, env, (text) => onNotice?.(text));
  return createDoorbell({ ...parts, ...sending, note: noteOf(root) });
}

/** Everything that it takes to tell the people whom the config names. */
export async function sendingOf(
  root: string,
  config: Pick<Config, "notify" | "env" | "redact">,
  env: Readonly<Record<string, string | undefined>>,
  onNotice: (text: string) => void,
): Promise<SenderParts> {
  const clock = createSystemClock();
  const outlets = outletsOf(config, { root, env, clock, onNotice });
  const literals = outlets.length === 0 ? [] : await envSecrets(root);
  const patterns = listedSecrets(config.redact);
  const clean = (text: string): string => redactSecrets(text, { literals, patterns }).text;
  return { project: basename(root), outlets, clock, clean, onNotice };
}

export const noteOf = (root: string): ReminderNote => createReminderNote(`${stateFolder(root).journal}.reminders`);
