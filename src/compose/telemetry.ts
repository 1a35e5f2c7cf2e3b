import { basename, resolve } from "node:path";
import { readFile } from "node:fs/promises";
import type { Journal } from "../ports/journal.ts";
import { createSystemClock } from "../adapters/clock/system-clock.ts";
import { isSdkRegistered, loadApi } from "../adapters/telemetry/load-api.ts";
import type { Telemetry } from "../adapters/telemetry/telemetry.ts";

export interface TelemetryPlan {
  /** The checkout: its name is the project's, and the OpenTelemetry API is looked up in its packages. */
  readonly root: string;
  /** The project; the same for all workers of one journal. */
  readonly project?: string;
  /** The worker's name; `null` where there is only one engine. */
  readonly worker: string | null;
  readonly journal: Pick<Journal, "read">;
  onNotice(text: string): void;
}

/** Telemetry, if an OpenTelemetry SDK was registered before Remand started; otherwise nothing is loaded or sent. */
export async function telemetryOf(plan: TelemetryPlan): Promise<Telemetry> {
  if (!isSdkRegistered()) return SILENT;
  const api = await loadApi(plan.root);
  if (api === null) {
    plan.onNotice("no telemetry: @opentelemetry/api cannot be loaded; npm install @opentelemetry/api beside Remand");
    return SILENT;
  }
  const { createTelemetry } = await import("../adapters/telemetry/telemetry.ts");
  return createTelemetry({
    api,
    version: await ownVersion(),
    project: plan.project ?? basename(resolve(plan.root)),
    worker: plan.worker,
    clock: createSystemClock(),
    identity: await firstHash(plan.journal),
  });
}

/** Identifies a journal: its first line contains a time and a hash, so no two journals share it. */
async function firstHash(journal: Pick<Journal, "read">): Promise<string | null> {
  for await (const { hash } of journal.read(0)) return hash;
  return null;
}

const SILENT: Telemetry = {
  journal: (journal) => journal,
  watcher: (watcher) => watcher,
  roleRegistry: (roleRegistry) => roleRegistry,
  resume: () => undefined,
  tookOver: () => undefined,
  close: () => Promise.resolve(),
};

/** The running version of Remand. */
export async function ownVersion(): Promise<string> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}
