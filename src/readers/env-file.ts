/**
 * The values of a `.env` file, as the usual loaders read it: `NAME=value`, with or without `export`, quoted or not, a
 * quoted one over several lines too. Whatever else stands in it is passed over: nobody runs it.
 */
export function readEnvValues(text: string): readonly string[] {
  const values: string[] = [];
  for (const [, double, single, back, bare = ""] of text.matchAll(ASSIGNMENT)) {
    if (double !== undefined) values.push(double.replaceAll(/\\(.)/gs, (_, char: string) => UNESCAPED[char] ?? char));
    else values.push(single ?? back ?? bare.replace(/\s+#.*$/, "").trim());
  }
  return values.filter((value) => value !== "");
}

const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?[\w.-]+[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|`([^`]*)`|([^\r\n]*))/gms;

const UNESCAPED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };
