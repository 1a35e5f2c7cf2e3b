/** What is kept of a check's run: four lines about it, and then what it printed. */
export interface CheckLog {
  readonly check: string;
  readonly environment: string;
  readonly command: string;
  readonly ending: string;
  readonly output: string;
}

export function checkLogText({ check, environment, command, ending, output }: CheckLog): string {
  return `check: ${check}\nenvironment: ${environment}\n$ ${command}\n${ending}\n\n${output}`;
}

/** What the check itself printed. A text of another kind is all output. */
export function printedIn(log: string): string {
  if (!log.startsWith("check: ")) return log;
  const end = log.indexOf("\n\n");
  return end < 0 ? "" : log.slice(end + 2);
}
