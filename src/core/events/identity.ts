/**
 * How the person behind an event is known. `terminal`: a terminal that nothing an engine started has made. `token`: the
 * user's token. `dashboard`: the dashboard's token. `forge`: an account of the user's `people:`. `claim`: by the given
 * name alone, which any process can give.
 */
export const IDENTITIES = ["terminal", "token", "dashboard", "forge", "claim"] as const;
export type Identity = (typeof IDENTITIES)[number];
