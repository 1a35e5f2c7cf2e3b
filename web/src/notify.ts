import { signal } from "@preact/signals";
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
    for (const { type, story, words } of lines ?? [])
      if (type === "escalation.raised") {
        const note = new Notification(`${story ?? "The run"} needs you`, { body: words, tag: `remand-${story}` });
        note.addEventListener("click", () => focus());
      }
  });
}
