"use strict";

/**
 * Counts for each changed line the tests that ran it: those that failed and those that passed. Only if the engine asks
 * for it. If tests run at the same time, a line that ran counts for all of them.
 */
const fs = require("node:fs");
const { dirname, join, resolve } = require("node:path");
const { fileURLToPath } = require("node:url");
const { threadId } = require("node:worker_threads");
const { placesOfLines } = require("./script-lines.cjs");

let counting = null;
let wish = null;

/** Called before the tests of a file are loaded. Processes that this process starts are not counted. */
function startCounting() {
  wish ??= process.env.REMAND_COVERAGE ?? null;
  delete process.env.REMAND_COVERAGE;
  if (wish === null || counting !== null) return;
  const path = wish;
  try {
    const { Session } = require("node:inspector");
    const session = new Session();
    session.connect();
    // Only for the texts of scripts: the code that ran is not always the file's text.
    session.post("Debugger.enable");
    session.post("Profiler.enable");
    session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    const files = wantedFiles(JSON.parse(fs.readFileSync(path, "utf8")));
    counting = { session, folder: dirname(path), files, totals: [0, 0], open: new Set() };
  } catch {
    // Without counts the engine ranks suspects by their text alone.
  }
}

function wantedFiles({ roots, files }) {
  const wanted = new Map();
  for (const [file, lines] of Object.entries(files))
    for (const root of roots)
      wanted.set(resolve(root, file), {
        file,
        scripts: new Map(),
        lines: lines.map((line) => ({ line, counts: [0, 0], isLoaded: false })),
      });
  return wanted;
}

/** Counts the lines that ran since the last call: for a test that passed or failed, or before the first test. */
function countLines(outcome) {
  if (counting === null || outcome === "skipped") return;
  const lines = takeLines();
  if (outcome === null) for (const each of lines) each.isLoaded = true;
  else addTest(lines, outcome);
}

function addTest(lines, outcome) {
  const kind = outcome === "failed" ? 0 : 1;
  counting.totals[kind]++;
  for (const each of lines) each.counts[kind]++;
}

/**
 * Starts a test that may run at the same time as others: until it ends, a line that ran may belong to any open test.
 */
function openTest() {
  if (counting === null) return null;
  shareLines();
  const test = { lines: new Set() };
  counting.open.add(test);
  return test;
}

/** The lines that ran since the last call belong to this test alone. */
function ranAlone(test) {
  if (counting !== null && test) for (const each of takeLines()) test.lines.add(each);
}

function closeTest(test, outcome) {
  if (counting === null || !test) return;
  shareLines();
  counting.open.delete(test);
  if (outcome !== "skipped") addTest(test.lines, outcome);
}

function shareLines() {
  const lines = takeLines();
  for (const test of counting.open) for (const each of lines) test.lines.add(each);
}

/** Returns the wanted lines that ran since the last call. */
function takeLines() {
  const run = new Set();
  counting.session.post("Profiler.takePreciseCoverage", (error, taken) => {
    for (const { url, scriptId, functions } of error ? [] : taken.result) {
      const path = url.startsWith("file:") ? fileURLToPath(url.replace(/[?#].*/, "")) : url;
      const wanted = counting.files.get(path);
      const places = wanted === undefined ? null : placesIn(wanted, path, scriptId);
      if (places === null) continue;
      const ranges = functions.flatMap((each) => each.ranges);
      // A file may be loaded as several scripts.
      for (const each of wanted.lines) if (places.get(each.line)?.some((at) => isRun(ranges, at))) run.add(each);
    }
  });
  return run;
}

/** The positions of the wanted lines' code in a script; `null` where they are unknown. */
function placesIn({ scripts, lines }, path, scriptId) {
  if (!scripts.has(scriptId)) {
    let source = null;
    counting.session.post("Debugger.getScriptSource", { scriptId }, (error, found) => {
      source = error ? null : found.scriptSource;
    });
    const wanted = lines.map(({ line }) => line);
    scripts.set(scriptId, source === null ? null : placesOfLines(source, fs.readFileSync(path, "utf8"), wanted));
  }
  return scripts.get(scriptId);
}

/** Whether the code at a position ran: the innermost range around it decides. */
function isRun(ranges, at) {
  let [size, count] = [Infinity, 0];
  for (const range of ranges) {
    if (at < range.startOffset || at >= range.endOffset || range.endOffset - range.startOffset > size) continue;
    [size, count] = [range.endOffset - range.startOffset, range.count];
  }
  return count > 0;
}

/** Writes the counts. Code that is loaded before the tests counts for all of them. */
function writeCounts() {
  if (counting === null) return;
  const { session, folder, files, totals } = counting;
  const found = [...files.values()].flatMap(({ file, lines, scripts }) => {
    const places = [...scripts.values()].filter((each) => each !== null);
    return lines
      .filter(({ line }) => places.some((each) => each.has(line)))
      .map(({ line, counts, isLoaded }) => {
        const [failed, passed] = isLoaded ? totals : counts;
        return { file, line, failed, passed };
      });
  });
  counting = null;
  session.disconnect();
  const name = `coverage-${process.pid}-${threadId}-${Math.random().toString(36).slice(2)}.json`;
  fs.writeFileSync(join(folder, name), JSON.stringify(found));
}

module.exports = { closeTest, countLines, openTest, ranAlone, startCounting, writeCounts };
