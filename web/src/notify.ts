import { signal } from "@preact/signals";
import type { NowDocument, StreamedLine } from "../../src/views/board/dashboard.ts";
import { ask } from "./ask.ts";
import { go } from "./router.tsx";
import { onLines } from "./stream.ts";

const PLACE = "remand-notify";
const isThere = "Notification" in globalThis;

/** Whether the person wants a notification when a question comes up; `null`: this browser has no notifications. */
export const notifies = signal<boolean | null>(
  isThere ? localStorage.getItem(PLACE) === "on" && Notification.permission === "granted" : null,
);

/** Asks the browser for permission first; called after a click of the person. */
export async function setNotifies(isOn: boolean): Promise<void> {
  const isAllowed = isOn && (await Notification.requestPermission()) === "granted";
  notifies.value = isAllowed;
  localStorage.setItem(PLACE, isAllowed ? "on" : "off");
}

/** Notifies only while the page is hidden: a visible page needs no notification. */
export function startNotifications(): void {
  onLines((lines) => {
    if (notifies.value !== true || document.visibilityState === "visible") return;
    for (const line of lines ?? []) if (line.type === "escalation.raised") void notify(line);
  });
}

/** Shows the question's text from the home page; a click opens it. */
async function notify({ story, words }: StreamedLine): Promise<void> {
  const row = await ask<NowDocument>("/now").then(
    ({ needsYou }) => needsYou.find((each) => each.story === story),
    // Notifies even if the server does not answer now.
    () => undefined,
  );
  const title = `${row?.title ?? story ?? "The run"} needs you`;
  const note = new Notification(title, { body: row?.question ?? words, tag: `remand-${story}` });
  note.addEventListener("click", () => {
    focus();
    if (row !== undefined) go(`/question/${row.id}`);
  });
}
