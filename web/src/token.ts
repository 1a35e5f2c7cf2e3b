/** Where the token is stored between visits. A restarted server still accepts it. */
const PLACE = "remand-token";

/**
 * Takes the token from the part after `#` of the address that the terminal printed, which browsers never send. It is
 * removed from the address at once, so that it is in no history and on no screenshot.
 */
export function takeToken(): boolean {
  const found = /^#token=([\w-]{20,100})$/.exec(location.hash)?.[1];
  if (found === undefined) return false;
  localStorage.setItem(PLACE, found);
  history.replaceState(null, "", location.pathname + location.search);
  return true;
}

/** Opening a new address in a tab that already shows this page only changes the part after `#`. */
export function watchToken(): void {
  addEventListener("hashchange", () => {
    if (takeToken()) location.reload();
  });
}

export const token = (): string => localStorage.getItem(PLACE) ?? "";
