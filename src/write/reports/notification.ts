import type { Notification } from "../../core/events/notification.ts";
import { jsonText } from "../../stdx/canonical-json.ts";

/** A notification as JSON, for webhooks and commands. */
export function writeNotification(notification: Notification): string {
  const { at, ...rest } = notification;
  return jsonText({ schema: "remand.notification/1", ...rest, at: new Date(at).toISOString() });
}

/**
 * A message for Slack's incoming webhooks and compatible ones. Plain text only: text of an agent must not become a
 * link, or notify a whole channel.
 */
export function writeSlackMessage({ title, text, project }: Notification): string {
  const plain = (value: string, most: number): object => ({
    type: "plain_text",
    text: value.slice(0, most),
    emoji: false,
  });
  return jsonText({
    text: escapeSlack(`${title} (${project})`),
    blocks: [
      { type: "header", text: plain(title, MOST_HEADER) },
      ...(text === "" ? [] : [{ type: "section", text: plain(text, MOST_SECTION) }]),
      { type: "context", elements: [plain(project, MOST_HEADER)] },
    ],
  });
}

/** Slack's limits. */
const MOST_HEADER = 150;
const MOST_SECTION = 3000;

const escapeSlack = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
