import { basename, resolve } from "node:path";
import { readFile } from "node:fs/promises";
import type { Journal } from "../ports/journal.ts";
import { createSystemClock } from "../adapters/clock/system-clock.ts";
import { isSdkRegistered, loadApi } from "../adapters/telemetry/load-api.ts";
import type { Telemetry } from "../adapters/telemetry/telemetry.ts";

export interface TelemetryPlan {
  /** The checkout; its name is the project's, and its packages are looked through for the API. */
  readonly root: string;
  /** What is worked on; the same for every worker of one journal. */
  readonly project?: string;
  /** The worker's name; `null` where there is one engine only. */
  readonly worker: string | null;
  readonly journal: Pick<Journal, "read">;
  onNotice(text: string): void;
}

/**
 * Telemetry where an OpenTelemetry SDK was registered before Remand was started; else nothing is loaded and nothing is
 * sent.
 */
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

/** No two journals begin with the same line: it has a time and a hash. */
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

/** The version of Remand that runs. */
export async function ownVersion(): Promise<string> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}
