const BY_ENDING: Readonly<Record<string, string>> = {
  ts: "typescript",
  tsx: "typescript",
  mts: "typescript",
  cts: "typescript",
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  py: "python",
  go: "go",
  rs: "rust",
  java: "java",
  kt: "kotlin",
  rb: "ruby",
  php: "php",
  cs: "csharp",
  c: "c",
  h: "c",
  cc: "cpp",
  cpp: "cpp",
  hpp: "cpp",
  swift: "swift",
  ex: "elixir",
  exs: "elixir",
  sh: "shell",
  sql: "sql",
  css: "css",
  html: "html",
  yml: "yaml",
  yaml: "yaml",
};

/** Returns the language of a file by its extension; an unknown extension is its own language. */
export function languageOf(path: string): string {
  const ending = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return Object.hasOwn(BY_ENDING, ending) ? BY_ENDING[ending]! : ending;
}

/** The languages for which a specialist can be configured. */
export const LANGUAGES: readonly string[] = [...new Set(Object.values(BY_ENDING))];
