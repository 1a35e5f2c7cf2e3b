/** Where the token is between two visits. It is worth nothing once the server that made it has ended. */
const PLACE = "remand-token";

/**
 * The token comes behind the `#` of the address that the terminal printed, which no browser sends anywhere. It is taken
 * out of the address at once, so that it stands in no history and on no screenshot.
 */
export function takeToken(): void {
  const found = /^#token=([\w-]{20,100})$/.exec(location.hash)?.[1];
  if (found === undefined) return;
  localStorage.setItem(PLACE, found);
  history.replaceState(null, "", location.pathname + location.search);
}

export const token = (): string => localStorage.getItem(PLACE) ?? "";
