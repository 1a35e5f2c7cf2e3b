import type { Notification } from "../../domain/notification.ts";
import type { Notifier } from "../../ports/notifier.ts";
import { allowedEnvironment } from "../process/environment.ts";
import { runProcess, type ProcessSpec } from "../process/run-process.ts";

export interface ProcessNotifierOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The desktop's own notifications: `notify-send` where there is one, `osascript` on a Mac. */
export function createDesktopNotifier(options: ProcessNotifierOptions, platform: NodeJS.Platform): Notifier {
  const env = allowedEnvironment(options.env, ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"]);
  return {
    name: "desktop",
    notify: ({ title, text, kind }, signal) =>
      ran({ command: desktopCommand(platform, title, text, kind), cwd: options.cwd, env, ...QUICK }, signal),
  };
}

/** The words are arguments, which no shell reads; behind `--` none of them is an option. */
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

/** A command of the person's own: the notification is its input, as JSON, and a few words are in its environment. */
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

const QUICK = { timeoutMs: 10_000, maxOutputBytes: 10_000 } as const;

async function ran(spec: ProcessSpec, signal: AbortSignal): Promise<void> {
  const { status, exitCode, failure, output } = await runProcess(spec, { signal });
  if (status === "exited" && exitCode === 0) return;
  if (status === "failed-to-start") throw new Error(failure?.message ?? "it could not be started");
  if (status !== "exited") throw new Error(status === "timeout" ? "it did not end in time" : "it was stopped");
  const last = output.trim().split("\n").at(-1) ?? "";
  throw new Error(`it ended with ${exitCode ?? "a signal"}${last === "" ? "" : `: ${last.slice(0, 200)}`}`);
}
