import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { RunningServer, ServePlan } from "../app/host.ts";
import type { EventAuthor } from "../core/events/authority.ts";
import { RemandError } from "../core/events/error.ts";
import { createLive, type Live, type Asset, type DashboardSource } from "../server/live.ts";
import { startDashboard } from "../server/app.ts";
import { allowedEnvironment } from "../adapters/process/environment.ts";
import { runProcess } from "../adapters/process/run-process.ts";
import { noteOf, sendingOf } from "./notifications/local-notifications.ts";
import { openView } from "./journal/read-journal.ts";
import { shownSecrets } from "./project-evidence.ts";
import { createServerNotifications, type ServerNotifications } from "../app/notifications/server-notifications.ts";
import { speakerIn } from "./journal/author.ts";
import { stateFolder } from "./state-folder.ts";
import { tell } from "./journal/append-answer.ts";

/** Where the pages are: beside the built program. */
const BUILT = fileURLToPath(new URL("../web/", import.meta.url));

export async function serve(
  root: string,
  db: string | null,
  plan: ServePlan,
  env: Readonly<Record<string, string | undefined>>,
): Promise<RunningServer> {
  // The token of the dashboard is worth what the process is that printed it.
  const starter = await speakerIn(root, env);
  const speaker: EventAuthor = starter.type === "person" ? { type: "person", identity: "dashboard" } : starter;
  const worktrees = join(stateFolder(root).path, "worktrees");
  const source: DashboardSource = {
    project: basename(resolve(root)),
    version: plan.version,
    by: plan.by,
    readOnly: plan.readOnly,
    secrets: await shownSecrets(root, plan.redact),
    assets: await assetsIn(plan.assets ?? BUILT),
    openView: () => openView(root, db, () => Promise.resolve(speaker.type === "person")),
    appendEvents: (stream, events) => tell(root, db, stream, events, speaker, env),
    verify: () => plan.verify(),
    health: () => plan.health(),
    placeOf: (story) => [join(worktrees, story)].find((path) => existsSync(path)) ?? null,
    now: () => Date.now(),
  };
  const live = createLive(source);
  const dashboard = await startDashboard(source, plan.port, live);
  const notifications = await notificationsOf(root, db, plan, env, live);
  return {
    ...dashboard,
    open: () => openBrowser(root, dashboard.url, env),
    close: async () => {
      await notifications?.close();
      await dashboard.close();
    },
  };
}

/** A dashboard that may only look sends nothing either. Beside a fleet the note is in its database, known to all. */
async function notificationsOf(
  root: string,
  db: string | null,
  { notify, redact, readOnly, onNotice }: ServePlan,
  env: Readonly<Record<string, string | undefined>>,
  live: Live,
): Promise<ServerNotifications | null> {
  if (notify === undefined || readOnly) return null;
  const sending = await sendingOf(root, { ...notify, redact }, env, (text) => onNotice?.(text));
  if (db === null) return createServerNotifications(live, { ...sending, note: noteOf(root) });
  const { fleetNote } = await import("./notifications/local-notifications.ts");
  const note = fleetNote(db);
  const notifications = createServerNotifications(live, { ...sending, note });
  return {
    close: async () => {
      await notifications.close();
      await note.close();
    },
  };
}

async function assetsIn(folder: string): Promise<ReadonlyMap<string, Asset>> {
  if (!existsSync(folder))
    throw new RemandError("file-missing", "the dashboard's pages were not built", "Run npm run build.");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const assets = await Promise.all(
    files.map(async (file): Promise<readonly [string, Asset]> => {
      const name = file.slice(folder.length).replaceAll("\\", "/").replace(/^\/?/, "/");
      const ending = /\.\w+$/.exec(name)?.[0] ?? "";
      return [name, { type: TYPES[ending] ?? "application/octet-stream", bytes: new Uint8Array(await readFile(file)) }];
    }),
  );
  return new Map(assets);
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Asks the desktop to open a browser. The result only says whether the command could be started. */
async function openBrowser(
  root: string,
  url: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const command: readonly [string, ...string[]] =
    process.platform === "darwin"
      ? ["open", url]
      : process.platform === "win32"
        ? ["rundll32", "url.dll,FileProtocolHandler", url]
        : ["xdg-open", url];
  const sees = allowedEnvironment(env, [
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "BROWSER",
  ]);
  const { exitCode } = await runProcess({
    command,
    cwd: root,
    env: sees,
    timeoutMs: 10_000,
    sandbox: null,
    survivors: "spare",
  });
  return exitCode === 0;
}
