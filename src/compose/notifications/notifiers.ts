import type { Outlet } from "../../app/notifications/send-notices.ts";
import type { Config, NotifyConfig } from "../../config/config.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Notifier } from "../../ports/notifier.ts";
import { createCommandNotifier, createDesktopNotifier, createHttpNotifier } from "../../adapters/notify/notifiers.ts";
import { writeNotification, writeSlackMessage } from "../../write/reports/notification.ts";

interface Parts {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  onNotice(text: string): void;
}

/** Everybody whom the config names. One that cannot be used is told of, and keeps nobody from working. */
export function outletsOf({ notify, env: visible }: Pick<Config, "notify" | "env">, parts: Parts): readonly Outlet[] {
  return notify.flatMap((each) => {
    const wish = wishOf(each);
    const notifier = notifierOf(wish, visible, parts);
    return notifier === null ? [] : [{ notifier, on: wish.on ?? null }];
  });
}

/** A word alone: the desktop, an address, or else a command. */
function wishOf(each: string | NotifyConfig): NotifyConfig {
  if (typeof each !== "string") return each;
  if (each === "desktop") return { use: "desktop" };
  return /^https?:\/\//.test(each) ? { use: "webhook", url: each } : { use: "command", run: each };
}

function notifierOf(wish: NotifyConfig, visible: readonly string[], parts: Parts): Notifier | null {
  const { root, env, clock } = parts;
  const place = { cwd: root, env };
  switch (wish.use) {
    case "desktop":
      return createDesktopNotifier(place, process.platform);
    case "command":
      return createCommandNotifier(wish.run ?? "", visible, place, writeNotification);
    case "webhook":
    case "slack": {
      const url = wish.url ?? fromEnvironment(wish.urlFrom, wish.use, parts);
      if (url === null) return null;
      const secret = wish.secretFrom === undefined ? null : fromEnvironment(wish.secretFrom, wish.use, parts);
      // Whoever wants it signed must not get it unsigned.
      if (wish.secretFrom !== undefined && secret === null) return null;
      if (!URL.canParse(url)) {
        parts.onNotice(`notify: the address of a ${wish.use} is none; nobody is told there`);
        return null;
      }
      const write = wish.use === "slack" ? writeSlackMessage : writeNotification;
      return createHttpNotifier({ use: wish.use, url, secret, clock, write });
    }
  }
}

function fromEnvironment(name: string | undefined, use: string, { env, onNotice }: Parts): string | null {
  const value = name === undefined ? undefined : env[name];
  if (value !== undefined && value !== "") return value;
  onNotice(`notify: the environment has no ${name ?? "address"}; nobody is told by this ${use}`);
  return null;
}
