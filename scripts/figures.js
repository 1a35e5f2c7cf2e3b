/**
 * `npm run figures -- [--before <commit>]`: figures about the source, for this tree and for an earlier commit. They are
 * computed from the text, without a compiler, so that the same script can measure every commit.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { isLoneParticiple, pronoun } from "./lint/words.js";

/** A text counts as duplicated if this many consecutive lines also occur elsewhere. */
const DUPLICATE_LINES = 8;
const SMALL = 25;

/**
 * @typedef {object} Source
 * @property {string} path below the root
 * @property {readonly string[]} lines
 * @property {readonly string[]} imports paths below the root
 */

/** @param {string} root @param {string} folder @returns {Source[]} */
function sourcesIn(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path) && !path.includes("node_modules"))
    .map((path) => {
      const file = join(root, folder, path);
      const text = readFileSync(file, "utf8");
      const specifiers = [...text.matchAll(/(?:\bfrom\s+|\bimport\(\s*)"(\.[^"]+)"/g)].map((match) => match[1] ?? "");
      const imports = specifiers.map((specifier) => relative(root, resolve(dirname(file), specifier)));
      return { path: join(folder, path), lines: text.replace(/\n$/, "").split("\n"), imports };
    });
}

/** @param {readonly string[]} lines */
const commentsOf = (lines) => lines.filter((line) => /^\s*(?:\/\/|\/?\*)/.test(line));

/** @param {string} text */
function exportedFunctions(text) {
  const pattern = /^export (?:async )?(?:function\*? (\w+)|const (\w+)(?::[^=]+)? = (?:async )?(?:\(|<))/gm;
  return [...text.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? "");
}

/** The number of lines in repeated blocks. @param {readonly Source[]} sources */
function duplicateLines(sources) {
  /** @type {Map<string, { file: number, at: number }[]>} */
  const places = new Map();
  const plain = sources.map(({ lines }) =>
    lines.map((line) => line.trim()).filter((line) => line !== "" && !/^(?:import|\}|\/\/|\*|\/\*)/.test(line)),
  );
  for (const [file, lines] of plain.entries())
    for (let at = 0; at + DUPLICATE_LINES <= lines.length; at++) {
      const key = lines.slice(at, at + DUPLICATE_LINES).join("\n");
      places.set(key, [...(places.get(key) ?? []), { file, at }]);
    }
  const repeated = new Set();
  for (const found of places.values())
    if (found.length > 1)
      for (const { file, at } of found)
        for (let line = at; line < at + DUPLICATE_LINES; line++) repeated.add(`${file}:${line}`);
  return repeated.size;
}

/** How many files the steps in a section of CONTRIBUTING.md name. @param {string} root @param {string} title */
function filesListed(root, title) {
  const page = existsSync(join(root, "CONTRIBUTING.md")) ? readFileSync(join(root, "CONTRIBUTING.md"), "utf8") : "";
  const section = page.split(/^#+ /m).find((part) => part.startsWith(title));
  if (section === undefined) return "not described";
  const steps = section.split("\n").filter((line) => /^\d+\. /.test(line));
  return steps.flatMap((line) => line.split(": ")[0]?.match(/`[^`]+\.ts`/g) ?? []).length;
}

/** @param {string} root @returns {Record<string, string | number>} */
function figuresOf(root) {
  const source = sourcesIn(root, "src");
  const others = ["test", "bench", "scripts", "web"].flatMap((folder) => sourcesIn(root, folder));
  /** @type {Map<string, Set<string>>} */
  const importers = new Map();
  for (const { path, imports } of [...source, ...others])
    for (const target of imports) importers.set(target, new Set([...(importers.get(target) ?? []), path]));
  /** @param {string} path */
  const inSource = (path) => [...(importers.get(path) ?? [])].filter((each) => /^(?:src|web)\//.test(each));
  const sizes = source.map(({ lines }) => lines.length).sort((a, b) => a - b);
  /** @type {Record<string, number>} */
  const folders = {};
  for (const { path } of source) folders[dirname(path)] = (folders[dirname(path)] ?? 0) + 1;
  const largest = Object.entries(folders).sort((a, b) => b[1] - a[1]);
  const single = source.filter(({ path }) => inSource(path).length === 1);
  /** @param {readonly Source[]} files */
  const pronounsIn = (files) =>
    files.reduce((sum, { lines }) => sum + commentsOf(lines).filter((line) => pronoun(line) !== null).length, 0);
  return {
    "files in src": source.length,
    "lines in src": sizes.reduce((sum, each) => sum + each, 0),
    "lines in test": others
      .filter(({ path }) => path.startsWith("test/"))
      .reduce((sum, { lines }) => sum + lines.length, 0),
    "median lines of a file": sizes[Math.floor(sizes.length / 2)] ?? 0,
    "longest file": sizes.at(-1) ?? 0,
    "folders with more than 25 files": largest.filter(([, count]) => count > 25).length,
    "largest folders": largest
      .slice(0, 5)
      .map(([folder, count]) => `${folder.replace(/^src\//, "")} ${count}`)
      .join(", "),
    "exported functions named by a participle": source
      .flatMap(({ lines }) => exportedFunctions(lines.join("\n")))
      .filter(isLoneParticiple).length,
    "comment lines with a pronoun, src": pronounsIn(source),
    "comment lines with a pronoun, others": pronounsIn(others),
    "repeated lines in src": duplicateLines(source),
    "files that only tests reach": source.filter(
      ({ path }) => inSource(path).length === 0 && (importers.get(path)?.size ?? 0) > 0,
    ).length,
    "files with one importer": single.length,
    [`of them with at most ${SMALL} lines`]: single.filter(({ lines }) => lines.length <= SMALL).length,
    "files for a new gate": filesListed(root, "Add a gate"),
    "files for a new agent client": filesListed(root, "Add an agent client"),
    "files for a new stop rule": filesListed(root, "Add a stop rule"),
  };
}

/** Lines and files per first-level folder of src. @param {string} root @returns {Record<string, string>} */
function layersOf(root) {
  /** @type {Record<string, { files: number, lines: number }>} */
  const layers = {};
  for (const { path, lines } of sourcesIn(root, "src")) {
    const name = path.split("/").length > 2 ? (path.split("/")[1] ?? "") : "(root)";
    const row = (layers[name] ??= { files: 0, lines: 0 });
    row.files += 1;
    row.lines += lines.length;
  }
  return Object.fromEntries(
    Object.entries(layers).map(([name, { files, lines }]) => [`src/${name}`, `${files} files, ${lines} lines`]),
  );
}

/** Checks out a commit in a temporary folder. @param {string} commit @param {(root: string) => void} use */
function withCommit(commit, use) {
  const folder = mkdtempSync(join(tmpdir(), "remand-figures-"));
  try {
    const archive = spawnSync("git", ["archive", "--format=tar", commit], { maxBuffer: 1024 ** 3 });
    if (archive.status !== 0) throw new Error(`git does not know the commit ${commit}: ${archive.stderr.toString()}`);
    spawnSync("tar", ["-x", "-C", folder], { input: archive.stdout });
    use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {Record<string, string | number> | null} before @param {Record<string, string | number>} after */
function print(before, after) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])];
  const width = Math.max(...names.map((name) => name.length));
  for (const name of names) {
    const was = before === null ? "" : `${String(before[name] ?? "-").padEnd(34)}  `;
    console.log(`${name.padEnd(width)}  ${was}${after[name] ?? "-"}`);
  }
}

const at = process.argv.indexOf("--before");
const commit = at < 0 ? null : process.argv[at + 1];
/** @type {Record<string, string | number> | null} */
let before = null;
/** @type {Record<string, string> | null} */
let layersBefore = null;
if (commit !== null && commit !== undefined)
  withCommit(commit, (root) => {
    before = figuresOf(root);
    layersBefore = layersOf(root);
  });
print(before, figuresOf(process.cwd()));
console.log();
print(layersBefore, layersOf(process.cwd()));
