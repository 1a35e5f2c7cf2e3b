/**
 * Adds a line to two modules of AVA, the one with the state of a run and the one that runs tests, so that they can be
 * watched.
 */
const watcher = new URL("./ava.mjs", import.meta.url).href;
const WATCHED = [
  { path: "/ava/lib/run-status.js", watch: "watchRuns", name: "RunStatus" },
  { path: "/ava/lib/runner.js", watch: "watchTests", name: "Runner" },
];

export async function load(url, context, next) {
  const loaded = await next(url, context);
  const found = WATCHED.find(({ path }) => url.endsWith(path));
  if (found === undefined || loaded.source == null) return loaded;
  const { watch, name } = found;
  const source = Buffer.from(loaded.source).toString("utf8");
  // The thread that loads modules may run this loader twice.
  if (source.includes(watcher)) return loaded;
  const line = `\nimport { ${watch} } from ${JSON.stringify(watcher)};\n${watch}(${name});\n`;
  return { ...loaded, source: `${source}${line}` };
}
