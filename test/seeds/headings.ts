/** The headings of a markdown text, in order, outside fenced evidence (whose lines have bars). */
export function headings(text: string): string[] {
  return text.split("\n").filter((line) => /^#{1,6} /.test(line));
}

/** Do the wanted ones stand among the others in this order? */
export function inOrder(all: readonly string[], wanted: readonly string[]): boolean {
  let at = 0;
  for (const heading of all) if (heading === wanted[at]) at++;
  return at === wanted.length;
}
