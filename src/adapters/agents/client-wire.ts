/** What a client prints: one JSON object a line. Everything in it comes from outside, so nothing is taken for granted. */
export type WireEvent = Readonly<Record<string, unknown>>;

/** `null` for whatever is not a whole object: progress bars, warnings, half a line. */
export function readWireEvent(line: string): WireEvent | null {
  if (!line.startsWith("{")) return null;
  try {
    return eventIn(JSON.parse(line));
  } catch {
    return null;
  }
}

export function eventIn(value: unknown): WireEvent | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as WireEvent) : null;
}

export function textIn(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function amountIn(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const LONGEST_SHOWN = 4000;

/** A line is for a person to look at; one of megabytes is none. */
export function shownLines(text: string): readonly string[] {
  return text
    .trimEnd()
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => (line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}…` : line));
}

/** A call of a tool in one short line: its name and the one thing that says most about it. */
export function shownCall(name: string, input: unknown): string {
  const fields = eventIn(input) ?? {};
  const said = SAYS_MOST.map((field) => textIn(fields[field])).find((value) => value !== null) ?? "";
  const line = said.trim().split("\n")[0]!;
  return line === "" ? name : `${name}: ${line.length > 200 ? `${line.slice(0, 200)}…` : line}`;
}

const SAYS_MOST = ["command", "file_path", "path", "pattern", "notebook_path", "url", "query", "description"];
