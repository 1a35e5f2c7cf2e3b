"use strict";

/**
 * Counts for each changed line the tests that ran it: those that failed and those that passed. Only where the engine
 * asks for it, and for runners that run their tests one after the other in this process.
 */
const fs = require("node:fs");
const { join, resolve } = require("node:path");
const { fileURLToPath } = require("node:url");

let counting = null;

/** Called before the tests are loaded. What this process starts is not counted. */
function startCounting() {
  const path = process.env.REMAND_COVERAGE;
  if (!path || counting !== null) return;
  delete process.env.REMAND_COVERAGE;
  try {
    const { Session } = require("node:inspector");
    const session = new Session();
    session.connect();
    session.post("Profiler.enable");
    session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    counting = { session, files: wantedFiles(JSON.parse(fs.readFileSync(path, "utf8"))), totals: [0, 0] };
  } catch {
    // Without counts the engine ranks by what it reads.
  }
}

function wantedFiles({ roots, files }) {
  const wanted = new Map();
  for (const [file, lines] of Object.entries(files))
    for (const root of roots)
      wanted.set(resolve(root, file), {
        file,
        lines: lines.map((line) => ({ line, counts: [0, 0], isLoaded: false })),
      });
  return wanted;
}

/** Counts what ran since the last call: for a test that passed or failed, or before the first test. */
function countLines(outcome) {
  if (counting === null || outcome === "skipped") return;
  const kind = outcome === "failed" ? 0 : 1;
  if (outcome !== null) counting.totals[kind]++;
  counting.session.post("Profiler.takePreciseCoverage", (error, taken) => {
    for (const { url, functions } of error ? [] : taken.result) {
      const wanted = url.startsWith("file:") ? counting.files.get(fileURLToPath(url)) : counting.files.get(url);
      if (wanted === undefined) continue;
      wanted.starts ??= lineStarts(url.startsWith("file:") ? fileURLToPath(url) : url);
      const ranges = functions.flatMap((each) => each.ranges);
      for (const each of wanted.lines) {
        if (!isRun(ranges, wanted.starts[each.line - 1])) continue;
        if (outcome === null) each.isLoaded = true;
        else each.counts[kind]++;
      }
    }
  });
}

/** Where the code of each line begins. */
function lineStarts(path) {
  let offset = 0;
  return fs
    .readFileSync(path, "utf8")
    .split("\n")
    .map((line) => {
      const start = offset + line.search(/\S|$/);
      offset += line.length + 1;
      return start;
    });
}

/** The innermost of the ranges around a place says whether it ran. */
function isRun(ranges, at) {
  let [size, count] = [Infinity, 0];
  for (const range of ranges) {
    if (at < range.startOffset || at >= range.endOffset || range.endOffset - range.startOffset > size) continue;
    [size, count] = [range.endOffset - range.startOffset, range.count];
  }
  return count > 0;
}

/** What is loaded before the tests is there for all of them. */
function writeCounts(folder) {
  if (counting === null) return;
  const { files, totals } = counting;
  const found = [...files.values()]
    .filter(({ starts }) => starts !== undefined)
    .flatMap(({ file, lines }) =>
      lines.map(({ line, counts, isLoaded }) => {
        const [failed, passed] = isLoaded ? totals : counts;
        return { file, line, failed, passed };
      }),
    );
  counting = null;
  fs.writeFileSync(join(folder, `coverage-${process.pid}.json`), JSON.stringify(found));
}

module.exports = { countLines, startCounting, writeCounts };
