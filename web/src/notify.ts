import { signal } from "@preact/signals";
import type { NowDocument, StreamedLine } from "../../src/views/board/dashboard.ts";
import { ask } from "./ask.ts";
import { go } from "./router.tsx";
import { onLines } from "./stream.ts";

const PLACE = "remand-notify";
const isThere = "Notification" in globalThis;

/** Does the person want to be told when a question comes? `null`: this browser cannot. */
export const notifies = signal<boolean | null>(
  isThere ? localStorage.getItem(PLACE) === "on" && Notification.permission === "granted" : null,
);

/** Asks the browser first: a person said so with a click. */
export async function setNotifies(isOn: boolean): Promise<void> {
  const isAllowed = isOn && (await Notification.requestPermission()) === "granted";
  notifies.value = isAllowed;
  localStorage.setItem(PLACE, isAllowed ? "on" : "off");
}

/** Only where the page is out of sight: what is seen needs no notification. */
export function startNotifications(): void {
  onLines((lines) => {
    if (notifies.value !== true || document.visibilityState === "visible") return;
    for (const line of lines ?? []) if (line.type === "escalation.raised") void notify(line);
  });
}

/** The question in its own words, as the home page has it; a click opens it. */
async function notify({ story, words }: StreamedLine): Promise<void> {
  const row = await ask<NowDocument>("/now").then(
    ({ needsYou }) => needsYou.find((each) => each.story === story),
    // A server that does not answer now is no reason to keep quiet.
    () => undefined,
  );
  const title = `${row?.title ?? story ?? "The run"} needs you`;
  const note = new Notification(title, { body: row?.question ?? words, tag: `remand-${story}` });
  note.addEventListener("click", () => {
    focus();
    if (row !== undefined) go(`/question/${row.id}`);
  });
}
