import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** The name of the page that is shown. */
export const pageTitle = signal("");

export function useTitle(title: string): void {
  useEffect(() => void (pageTitle.value = title), [title]);
}

/**
 * Shows the number of questions in the title and on the icon, so that a tab in the background shows that it needs the
 * person.
 */
export function showCount(title: string, questions: number): void {
  document.title = `${questions > 0 ? `(${questions}) ` : ""}${title === "" ? "" : `${title} · `}Remand`;
  const icon = questions === 0 ? "/icon.svg" : `/icon-${questions > 9 ? "many" : questions}.svg`;
  const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  if (link !== null && link.getAttribute("href") !== icon) link.href = icon;
}
