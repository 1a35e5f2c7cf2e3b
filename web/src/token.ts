/** Where the token is between two visits. A server that is started again still takes it. */
const PLACE = "remand-token";

/**
 * The token comes behind the `#` of the address that the terminal printed, which no browser sends anywhere. It is taken
 * out of the address at once, so that it stands in no history and on no screenshot.
 */
export function takeToken(): boolean {
  const found = /^#token=([\w-]{20,100})$/.exec(location.hash)?.[1];
  if (found === undefined) return false;
  localStorage.setItem(PLACE, found);
  history.replaceState(null, "", location.pathname + location.search);
  return true;
}

/** A new address that is opened in a tab which shows this page already only changes what is behind the `#`. */
export function watchToken(): void {
  addEventListener("hashchange", () => {
    if (takeToken()) location.reload();
  });
}

export const token = (): string => localStorage.getItem(PLACE) ?? "";
