import { Composer, Lexer, Parser, YAMLParseError, type CST, type Document } from "yaml";

/**
 * Parses one YAML document, equal keys and all, and refuses nesting that would use up the stack: the library's parser goes as deep as
 * the text does, and where the stack ends inside the engine's own regular expressions the whole process ends,
 * not only the call. Its tokeniser keeps a list instead, so the depth can be seen before anything is composed.
 */
export function parseYaml(source: string): Document.Parsed | { readonly tooDeepAt: number } {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(source)) {
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > MOST_OPEN) return { tooDeepAt: parser.offset };
  }
  tokens.push(...parser.end());
  // The library compares each key with each other one; whoever walks the document finds equal keys in one pass.
  const composer = new Composer({ prettyErrors: false, version: "1.2", uniqueKeys: false });
  const [first, second] = composer.compose(tokens, true, source.length);
  if (second !== undefined) {
    const [start, end] = second.range;
    first!.errors.push(new YAMLParseError([start, end], "MULTIPLE_DOCS", "this is a second document"));
  }
  return first as Document.Parsed;
}

/** Open maps and lists at one point of the text. */
const MOST_OPEN = 200;
