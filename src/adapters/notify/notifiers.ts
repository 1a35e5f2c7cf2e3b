import { createHmac } from "node:crypto";
import type { Notification } from "../../core/events/notification.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Notifier } from "../../ports/notifier.ts";
import { allowedEnvironment } from "../process/environment.ts";
import { type ProcessSpec, runProcess } from "../process/run-process.ts";

export interface HttpNotifierOptions {
  readonly use: "webhook" | "slack";
  readonly url: string;
  /** Signs the body, so that the receiver can verify the sender; `null`: unsigned. */
  readonly secret: string | null;
  readonly clock: Clock;
  write(notification: Notification): string;
}

/** Posts JSON. Temporary failures (no connection, 429, 5xx) are retried; redirects are not followed. */
export function createHttpNotifier({ use, url, secret, clock, write }: HttpNotifierOptions): Notifier {
  // Show only the host: the URL of a webhook is often its only protection.
  const name = `${use} ${new URL(url).host}`;
  const post = async (body: string, kind: string, signal: AbortSignal): Promise<DeliveryTry> => {
    try {
      const response = await fetch(url, {
        method: "POST",
        body,
        headers: {
          "content-type": "application/json",
          "user-agent": "remand",
          "x-remand-kind": kind,
          ...(secret === null ? {} : { "x-remand-signature-256": `sha256=${signatureOf(body, secret)}` }),
        },
        redirect: "manual",
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      await response.body?.cancel();
      if (response.ok) return { trouble: null };
      return { trouble: `it answered ${response.status}`, mayPass: response.status === 429 || response.status >= 500 };
    } catch (error) {
      return { trouble: reasonOf(error as Error), mayPass: true };
    }
  };
  return {
    name,
    async notify(notification, signal) {
      const body = write(notification);
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 4) {
        const { trouble, mayPass } = await post(body, notification.kind, signal);
        if (trouble === null) return;
        if (mayPass !== true || pauseMs > LAST_PAUSE_MS || signal.aborted) throw new Error(trouble);
        await clock.sleep(pauseMs, signal);
      }
    },
  };
}

type DeliveryTry = { readonly trouble: string | null; readonly mayPass?: boolean };

const TIMEOUT_MS = 10_000;
const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 2000;

export const signatureOf = (body: string, secret: string): string =>
  createHmac("sha256", secret).update(body).digest("hex");

/** Returns the cause of a failed `fetch`, whose own message says nothing. Neither contains the URL. */
function reasonOf(error: Error): string {
  if (error.name === "TimeoutError") return "it did not answer in time";
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code === undefined ? "it could not be reached" : `it could not be reached (${cause.code})`;
}

export interface ProcessNotifierOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Uses the desktop's notifications: `notify-send`, or `osascript` on macOS. */
export function createDesktopNotifier(options: ProcessNotifierOptions, platform: NodeJS.Platform): Notifier {
  const env = allowedEnvironment(options.env, ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"]);
  return {
    name: "desktop",
    notify: ({ title, text, kind }, signal) =>
      ran({ command: desktopCommand(platform, title, text, kind), cwd: options.cwd, env, ...QUICK }, signal),
  };
}

/** The texts are arguments, which no shell reads; after `--` none of them is an option. */
function desktopCommand(
  platform: NodeJS.Platform,
  title: string,
  text: string,
  kind: Notification["kind"],
): readonly [string, ...string[]] {
  if (platform === "darwin") return ["osascript", ...SCRIPT.flatMap((line) => ["-e", line]), title, text];
  const urgency = kind === "question" || kind === "reminder" ? "critical" : "normal";
  return ["notify-send", "--app-name=remand", `--urgency=${urgency}`, "--", title, text];
}

const SCRIPT = ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"] as const;

/** Runs the user's own command, with the notification as JSON on stdin and a few values in the environment. */
export function createCommandNotifier(
  command: string,
  visible: readonly string[],
  options: ProcessNotifierOptions,
  write: (notification: Notification) => string,
): Notifier {
  return {
    name: `command ${command.trim().split(/\s/)[0]}`,
    notify: (notification, signal) => {
      const env = {
        ...allowedEnvironment(options.env, visible),
        REMAND_KIND: notification.kind,
        REMAND_STORY: notification.story ?? "",
        REMAND_TITLE: notification.title,
        REMAND_TEXT: notification.text,
      };
      return ran({ command, cwd: options.cwd, env, stdin: write(notification), ...QUICK }, signal);
    },
  };
}

const QUICK = { timeoutMs: 10_000, sandbox: null, maxOutputBytes: 10_000 } as const;

async function ran(spec: ProcessSpec, signal: AbortSignal): Promise<void> {
  const { status, exitCode, failure, output } = await runProcess(spec, { signal });
  if (status === "exited" && exitCode === 0) return;
  if (status === "failed-to-start") throw new Error(failure?.message ?? "it could not be started");
  if (status !== "exited") throw new Error(status === "timeout" ? "it did not end in time" : "it was stopped");
  const last = output.trim().split("\n").at(-1) ?? "";
  throw new Error(`it ended with ${exitCode ?? "a signal"}${last === "" ? "" : `: ${last.slice(0, 200)}`}`);
}
