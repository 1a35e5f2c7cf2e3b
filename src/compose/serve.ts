import { existsSync } from "node:fs";
import { readFile, readdir, mkdir, rename, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { basename, join, resolve, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { RunningServer, ServePlan } from "../app/host.ts";
import type { EventAuthor } from "../core/events/authority.ts";
import { RemandError } from "../core/events/error.ts";
import { createLive, type Live, type Asset, type DashboardSource } from "../server/live.ts";
import type { StoryEditor } from "../ports/files.ts";
import { startDashboard } from "../server/app.ts";
import { tokenHash } from "../server/guard.ts";
import { createOutputReader } from "../adapters/evidence/output-ring.ts";
import { userStateFolder } from "../adapters/git/repository.ts";
import { livingOwner } from "../adapters/journal/ownership.ts";
import { startDetached } from "../adapters/process/launch.ts";
import { allowedEnvironment } from "../adapters/process/environment.ts";
import { runProcess } from "../adapters/process/run-process.ts";
import { noteOf, sendingOf } from "./notifications/local-notifications.ts";
import { openView } from "./journal/read-journal.ts";
import { isRecord } from "../stdx/assert.ts";
import { sha256 } from "../stdx/sha256.ts";
import { shownSecrets } from "./project-evidence.ts";
import { createServerNotifications, type ServerNotifications } from "../app/notifications/server-notifications.ts";
import { speakerIn } from "./journal/author.ts";
import { stateFolder } from "./state-folder.ts";
import { appendAnswers } from "./journal/append-answer.ts";

/** The built pages, next to the program. */
const BUILT = fileURLToPath(new URL("../web/", import.meta.url));

export async function serve(
  root: string,
  db: string | null,
  plan: ServePlan,
  env: Readonly<Record<string, string | undefined>>,
): Promise<RunningServer> {
  // The dashboard's token has the authority of the process that printed it.
  const starter = await speakerIn(root, env);
  const speaker: EventAuthor = starter.type === "person" ? { type: "person", identity: "dashboard" } : starter;
  const tokenFile = dashboardTokenFile(userStateFolder(env), root);
  const worktrees = join(stateFolder(root).path, "worktrees");
  const source: DashboardSource = {
    project: basename(resolve(root)),
    version: plan.version,
    by: plan.by,
    readOnly: plan.readOnly,
    secrets: await shownSecrets(root, plan.redact),
    assets: await assetsIn(plan.assets ?? BUILT),
    openView: () => openView(root, db, () => Promise.resolve(speaker.type === "person")),
    appendEach: (streams, known) => appendAnswers(root, db, streams, speaker, env, known),
    verify: () => plan.verify(),
    health: () => plan.health(),
    placeOf: (story) => [join(worktrees, story)].find((path) => existsSync(path)) ?? null,
    now: () => Date.now(),
    engine: async () => (db === null ? livingOwner(stateFolder(root).journal) : "fleet"),
    startEngine: () => startEngine(root, db, plan.engineArgs ?? ["run", "--watch"], env),
    output: createOutputReader(stateFolder(root).output),
    stories: storyFilesOf(plan, speaker),
    earlierTokens: starter.type === "person" ? await keptTokens(tokenFile) : [],
  };
  const live = createLive(source);
  const dashboard = await startDashboard(source, plan.port, live);
  // Only an identified person's token is kept: that of another process must not become a person's.
  if (starter.type === "person") await keepToken(tokenFile, tokenHash(dashboard.token), Date.now());
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

/** A story defines what is accepted, so only a person's dashboard may write one. */
function storyFilesOf({ stories }: ServePlan, speaker: EventAuthor): StoryEditor {
  return {
    read: async (id) => (await stories?.read(id)) ?? null,
    write: (edit) => {
      if (stories === undefined) throw new RemandError("usage", "there are no files of stories here", "");
      if (speaker.type === "person" || edit.isCheck) return stories.write(edit);
      throw new RemandError(
        "not-a-person",
        "only an identified person can write stories here",
        "Start remand serve in a terminal of yours.",
      );
    },
  };
}

/** Long enough for a preflight of the checks on a slow machine. */
const START_PATIENCE_MS = 60_000;
const START_POLL_MS = 100;

/** Starts `remand run --watch` as a separate program, and waits until it has locked the journal. */
async function startEngine(
  root: string,
  db: string | null,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const { journal, path } = stateFolder(root);
  if (db !== null) throw new RemandError("usage", "a fleet has workers, and no engine here", "Start remand worker.");
  if ((await livingOwner(journal)) !== null)
    throw new RemandError("usage", "an engine is already running here", "Nothing was started.");
  const program = fileURLToPath(new URL("../main.js", import.meta.url));
  if (!existsSync(program))
    throw new RemandError("file-missing", "the built program is not here", "Start it in a terminal: remand run.");
  const command = [process.execPath, program, ...args, "--reporter", "minimal"] as const;
  const started = startDetached({ command, cwd: root, env, log: join(path, "engine.log") });
  for (const until = Date.now() + START_PATIENCE_MS; Date.now() < until; await sleep(START_POLL_MS)) {
    if ((await livingOwner(journal)) !== null) return;
    if (started.exitCode() !== null) break;
  }
  throw new RemandError(
    "usage",
    `the engine did not start${started.exitCode() === null ? " within 60 s" : ""}: ${lastLines(started.lastOutput())}`,
    "Start it in a terminal to see more: remand run.",
  );
}

const lastLines = (text: string): string => text.trim().split("\n").slice(-3).join(" ") || "it printed nothing";

/** A read-only dashboard sends no notifications. For a fleet, the note is in the database that all processes share. */
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

/** Asks the desktop to open a browser. Returns only whether the command could be started. */
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

/*
 * The tokens that dashboards of a checkout issued, as hashes, so that open tabs keep working after `remand serve` was
 * restarted. The tokens themselves are only in the browser.
 */

interface KeptDashboardToken {
  readonly sha256: string;
  readonly madeAt: number;
}

const MOST_TOKENS = 8;
const MOST_AGE_MS = 30 * 24 * 3_600_000;

/** In the user's own folder, which agents in a sandbox cannot see; one file per checkout. */
const dashboardTokenFile = (userState: string, root: string): string =>
  join(userState, "dashboards", `${sha256(root).slice(0, 24)}.json`);

async function keptTokens(file: string, now = Date.now()): Promise<readonly string[]> {
  return (await readTokens(file, now)).map((token) => token.sha256);
}

async function keepToken(file: string, hash: string, now: number): Promise<void> {
  const tokens = [...(await readTokens(file, now)), { sha256: hash, madeAt: now }].slice(-MOST_TOKENS);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(`${file}.new`, `${JSON.stringify({ schema: "remand.dashboard-tokens/1", tokens })}\n`, {
    mode: 0o600,
  });
  await rename(`${file}.new`, file);
}

/** A missing or damaged file only means that open tabs need the new address. */
async function readTokens(file: string, now: number): Promise<readonly KeptDashboardToken[]> {
  try {
    const value: unknown = JSON.parse(await readFile(file, "utf8"));
    const tokens: unknown = isRecord(value) ? value["tokens"] : null;
    return Array.isArray(tokens) ? tokens.flatMap((token) => kept(token, now)) : [];
  } catch {
    return [];
  }
}

function kept(value: unknown, now: number): KeptDashboardToken[] {
  if (!isRecord(value)) return [];
  const { sha256: hash, madeAt } = value;
  if (typeof hash !== "string" || !/^[0-9a-f]{64}$/.test(hash) || typeof madeAt !== "number") return [];
  return now - madeAt > MOST_AGE_MS ? [] : [{ sha256: hash, madeAt }];
}
