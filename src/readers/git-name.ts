/** A name as git prints it: with quotes around it and escapes in it where it holds quotes, backslashes or control characters. */
export function unquotedName(name: string): string {
  if (name.length < 2 || !name.startsWith('"') || !name.endsWith('"')) return name;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  const inside = name.slice(1, -1);
  for (const [part] of inside.matchAll(/\\[0-7]{3}|\\[^]|[^\\]+|\\/g)) {
    if (/^\\[0-7]{3}$/.test(part)) bytes.push(Number.parseInt(part.slice(1), 8) & 0xff);
    else if (part.length === 2 && part.startsWith("\\"))
      bytes.push(...encoder.encode(ESCAPES[part.charAt(1)] ?? part.charAt(1)));
    else bytes.push(...encoder.encode(part));
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

const ESCAPES: Readonly<Record<string, string>> = { a: "\u0007", b: "\b", t: "\t", n: "\n", v: "\v", f: "\f", r: "\r" };
