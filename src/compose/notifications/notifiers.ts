import type { Outlet } from "../../app/notifications/send-notices.ts";
import type { Config, NotifyConfig } from "../../config/config.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Notifier } from "../../ports/notifier.ts";
import { createCommandNotifier, createDesktopNotifier, createHttpNotifier } from "../../adapters/notify/notifiers.ts";
import { writeNotification, writeSlackMessage } from "../../write/reports/notification.ts";

interface NotifierParts {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  onNotice(text: string): void;
}

/** All receivers that the config names. One that cannot be used is reported, and does not stop the run. */
export function outletsOf(
  { notify, env: visible }: Pick<Config, "notify" | "env">,
  parts: NotifierParts,
): readonly Outlet[] {
  return notify.flatMap((each) => {
    const spec = wishOf(each);
    const notifier = notifierOf(spec, visible, parts);
    return notifier === null ? [] : [{ notifier, on: spec.on ?? null }];
  });
}

/** A word alone: the desktop, an address, or else a command. */
function wishOf(each: string | NotifyConfig): NotifyConfig {
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
