/** The `Key: value` lines that end a commit's message: its last paragraph, and only if every line of it is one. */
export function readTrailers(message: string): ReadonlyMap<string, string> {
  const paragraphs = message
    .replaceAll("\r\n", "\n")
    .trimEnd()
    .split(/\n[ \t]*\n/);
  const trailers = new Map<string, string>();
  // The first paragraph is the subject, whatever it looks like.
  if (paragraphs.length < 2) return trailers;
  for (const line of paragraphs.at(-1)!.split("\n")) {
    const match = /^([A-Za-z][A-Za-z0-9-]*):[ \t]*(.*)$/.exec(line);
    if (match === null) return new Map();
    trailers.set(match[1]!, match[2]!.trimEnd());
  }
  return trailers;
}
