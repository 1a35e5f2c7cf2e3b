/** A command of GitHub Actions, as a line of output: an annotation, a group. It does not end the line. */
export function workflowCommand(name: string, properties: Readonly<Record<string, string>>, text: string): string {
  const list = Object.entries(properties).map(([key, value]) => `${key}=${escapedProperty(value)}`);
  return `::${name}${list.length === 0 ? "" : ` ${list.join(",")}`}::${escaped(text)}`;
}

/** A line that begins like a workflow command would be obeyed; text of agents must not give commands. */
export const inertLines = (text: string): string => text.replaceAll(/^(\s*)::/gm, "$1: :");

const escaped = (text: string): string => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const escapedProperty = (text: string): string => escaped(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
