/**
 * A schema without its own name and without that of its dialect: Claude Code refuses a dialect that it cannot look up,
 * and Codex's provider every word that it does not know.
 */
export function namelessSchema(schema: object): object {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== "$schema" && name !== "$id"));
}
