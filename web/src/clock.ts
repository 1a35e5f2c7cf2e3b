import { signal } from "@preact/signals";

/** The time, as often as somebody wants to see it move. */
export const now = signal(Date.now());

setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now();
}, 5000);
