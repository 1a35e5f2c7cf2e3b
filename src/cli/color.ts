/**
 * Is the output coloured? What was typed wins over the environment, and the environment over what the output is
 * connected to. An empty variable counts as not set, as the NO_COLOR convention asks.
 */
export function wantsColor(
  typed: boolean | undefined,
  env: Readonly<Record<string, string | undefined>>,
  terminal: boolean,
): boolean {
  if (typed !== undefined) return typed;
  if (env["FORCE_COLOR"]) return env["FORCE_COLOR"] !== "0" && env["FORCE_COLOR"] !== "false";
  if (env["NO_COLOR"] || env["TERM"] === "dumb") return false;
  return terminal;
}
