import { basename } from "node:path";
import type { RunPlan } from "../cli/host.ts";
import type { Journal } from "../ports/journal.ts";
import type { Watcher } from "../ports/watcher.ts";
import { redactSecrets } from "../readers/secrets.ts";
import { createSystemClock } from "../adapters/clock/system-clock.ts";
import { createDoorbell, type Doorbell } from "./doorbell.ts";
import { outletsOf } from "./notifiers.ts";
import { envSecrets, listedSecrets } from "./project-evidence.ts";

/** The doorbell of a checkout: whom its config names, and without what its `.env` files hold. */
export async function doorbellOf(
  root: string,
  { config, onNotice }: Pick<RunPlan, "config" | "onNotice">,
  env: Readonly<Record<string, string | undefined>>,
  parts: { readonly journal: Pick<Journal, "read">; readonly watcher: Watcher },
): Promise<Doorbell> {
  const clock = createSystemClock();
  const told = (text: string): void => onNotice?.(text);
  const outlets = outletsOf(config, { root, env, clock, onNotice: told });
  const literals = outlets.length === 0 ? [] : await envSecrets(root);
  const patterns = listedSecrets(config.redact);
  return createDoorbell({
    ...parts,
    project: basename(root),
    outlets,
    clock,
    clean: (text) => redactSecrets(text, { literals, patterns }).text,
    onNotice: told,
  });
}
