import { signal } from "@preact/signals";

/** The current time, updated every five seconds while the page is visible. */
export const now = signal(Date.now());

setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now();
}, 5000);
