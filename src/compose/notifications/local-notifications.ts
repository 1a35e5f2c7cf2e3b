import { basename } from "node:path";
import type { RunPlan } from "../../app/host.ts";
import type { Config, NotifyConfig } from "../../config/config.ts";
import type { Journal, Watcher } from "../../ports/journal.ts";
import type { Notifier, ReminderNote } from "../../ports/notifier.ts";
import { redactSecrets } from "../../parse/secrets/secrets.ts";
import { createSystemClock } from "../../adapters/clock/system-clock.ts";
import { ownRedactor } from "../../adapters/process/own-secrets.ts";
import { createReminderNote } from "../../adapters/journal/reminder-note.ts";
import {
  type Notifications,
  createNotifications,
  type Outlet,
  type SenderParts,
} from "../../app/notifications/notifications.ts";
import { shownSecrets } from "../project-evidence.ts";
import { stateFolder } from "../state-folder.ts";
import type { Ledger } from "../../engine/ledger.ts";
import type { EngineWorld } from "../../engine/world.ts";
import { createPostgresNote } from "../../adapters/postgres/turns.ts";
import { type PostgresPool, openPool } from "../../adapters/postgres/pool.ts";
import { type ServerNotifications, createServerNotifications } from "../../app/notifications/server-notifications.ts";
import type { Clock } from "../../ports/clock.ts";
import { createCommandNotifier, createDesktopNotifier, createHttpNotifier } from "../../adapters/notify/notifiers.ts";
import { writeNotification, writeSlackMessage } from "../../write/reports/notification.ts";

/** The notifications of a checkout: receivers from its config, texts without secrets of its `.env` files. */
export async function notificationsOf(
  root: string,
  { config, onNotice }: Pick<RunPlan, "config" | "onNotice">,
  env: Readonly<Record<string, string | undefined>>,
  parts: { readonly journal: Pick<Journal, "read">; readonly watcher: Watcher },
): Promise<Notifications> {
  const sending = await sendingOf(root, config, env, (text) => onNotice?.(text));
  return createNotifications({ ...parts, ...sending, note: noteOf(root) });
}

/** What is needed to notify the receivers of the config. */
export async function sendingOf(
  root: string,
  config: Pick<Config, "notify" | "env" | "redact">,
  env: Readonly<Record<string, string | undefined>>,
  onNotice: (text: string) => void,
): Promise<SenderParts> {
  const clock = createSystemClock();
  const outlets = outletsOf(config, { root, env, clock, onNotice });
  if (outlets.length > 0) await shownSecrets(root, config.redact);
  const clean = (text: string): string => redactSecrets(text, ownRedactor().rules).text;
  return { project: basename(root), outlets, clock, clean, onNotice };
}

export const noteOf = (root: string): ReminderNote => createReminderNote(`${stateFolder(root).journal}.reminders`);

export interface FleetNotificationsParts {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: Pick<Config, "notify" | "env" | "redact">;
  readonly pool: PostgresPool;
  readonly ledger: Pick<Ledger, "state" | "changed">;
  readonly journal: Pick<EngineWorld["journal"], "read">;
  onNotice(text: string): void;
}

/**
 * Notifies of a fleet's questions. The leading worker sends new questions when they are raised, and reminders while
 * they are unanswered. Each is sent once, also next to a dashboard and after a change of the leader.
 */
export async function createFleetNotifications(parts: FleetNotificationsParts): Promise<ServerNotifications> {
  const { root, env, config, pool, ledger, journal, onNotice } = parts;
  const sending = await sendingOf(root, config, env, onNotice);
  if (sending.outlets.length === 0) return { close: () => Promise.resolve() };
  const view = {
    now: () => Promise.resolve({ state: ledger.state(), view: { lines: (after: number) => journal.read(after) } }),
    changed: (signal: AbortSignal) => Promise.race([ledger.changed(), whenAborted(signal)]),
  };
  const notes = {
    note: createPostgresNote(pool, "reminders"),
    newsNote: createPostgresNote(pool, "questions"),
  };
  return createServerNotifications(view, { ...sending, ...notes });
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** The same note for a dashboard: it opens its own connections, when a reminder is due. */
export function fleetNote(db: string): ReminderNote & { close(): Promise<void> } {
  let pool: Promise<PostgresPool> | null = null;
  return {
    takeTurn: async (take) => {
      pool ??= openPool(db, { connections: 1, patienceMs: PATIENCE_MS });
      try {
        await createPostgresNote(await pool, "reminders").takeTurn(take);
      } catch (error) {
        // The next turn opens a new pool: a failed one must not be reused.
        await (await pool.catch(() => null))?.close();
        pool = null;
        throw error;
      }
    },
    close: async () => {
      await (await pool?.catch(() => null))?.close();
    },
  };
}

/** Reminders are hours apart; an unreachable server is tried again in a minute. */
const PATIENCE_MS = 5000;

interface NotifierParts {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  onNotice(text: string): void;
}

/** Creates the notifiers of the config. One that cannot be used is reported, and does not stop the run. */
export function outletsOf(
  { notify, env: visible }: Pick<Config, "notify" | "env">,
  parts: NotifierParts,
): readonly Outlet[] {
  return notify.flatMap((each) => {
    const spec = specOf(each);
    const notifier = notifierOf(spec, visible, parts);
    return notifier === null ? [] : [{ notifier, on: spec.on ?? null }];
  });
}

/** Expands the short form: `desktop`, an address, or else a command. */
function specOf(each: string | NotifyConfig): NotifyConfig {
  if (typeof each !== "string") return each;
  if (each === "desktop") return { use: "desktop" };
  return /^https?:\/\//.test(each) ? { use: "webhook", url: each } : { use: "command", run: each };
}

function notifierOf(spec: NotifyConfig, visible: readonly string[], parts: NotifierParts): Notifier | null {
  const { root, env, clock } = parts;
  const place = { cwd: root, env };
  switch (spec.use) {
    case "desktop":
      return createDesktopNotifier(place, process.platform);
    case "command":
      return createCommandNotifier(spec.run ?? "", visible, place, writeNotification);
    case "webhook":
    case "slack": {
      const url = spec.url ?? fromEnvironment(spec.urlFrom, spec.use, parts);
      if (url === null) return null;
      const secret = spec.secretFrom === undefined ? null : fromEnvironment(spec.secretFrom, spec.use, parts);
      // A webhook with a signature must never be sent unsigned.
      if (spec.secretFrom !== undefined && secret === null) return null;
      if (!URL.canParse(url)) {
        parts.onNotice(`notify: the address of a ${spec.use} is not a URL; nothing is sent there`);
        return null;
      }
      const write = spec.use === "slack" ? writeSlackMessage : writeNotification;
      return createHttpNotifier({ use: spec.use, url, secret, clock, write });
    }
  }
}

function fromEnvironment(name: string | undefined, use: string, { env, onNotice }: NotifierParts): string | null {
  const value = name === undefined ? undefined : env[name];
  if (value !== undefined && value !== "") return value;
  onNotice(`notify: the environment has no ${name ?? "address"}; nothing is sent to this ${use}`);
  return null;
}
