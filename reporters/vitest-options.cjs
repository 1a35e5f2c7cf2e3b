"use strict";

/**
 * Adds Remand's reporter to Vitest's command line. Reporters on the command line replace those of the configuration, so
 * Vitest's own choice is added as well.
 */
const { readdirSync, readFileSync } = require("node:fs");
const { join, resolve } = require("node:path");
const { takeFolder } = require("./report.cjs");

/** Subcommands that run no test. */
const OTHERS = new Set(["bench", "init", "list"]);

function addReporter() {
  const args = process.argv.slice(2);
  const end = args.indexOf("--");
  const options = end === -1 ? args : args.slice(0, end);
  if (OTHERS.has(options.find((arg) => !arg.startsWith("-")))) return;
  const chosen = options.some((arg) => /^--reporters?(?:=|$)/.test(arg));
  const added = [...(chosen ? [] : chosenByVitest(options)), `--reporter=${require.resolve("./vitest.mjs")}`];
  process.argv.splice(2, args.length, ...options, ...added, ...args.slice(options.length));
  takeFolder();
}

/** If the configuration names reporters, Remand's reporter creates them from Vitest's settings. */
function chosenByVitest(options) {
  if (isAgent() || configTexts(options).some((text) => /\breporters\b/.test(text))) {
    globalThis[Symbol.for("remand.vitest-reporters")] = true;
    return [];
  }
  return ["--reporter=default", ...(process.env.GITHUB_ACTIONS === "true" ? ["--reporter=github-actions"] : [])];
}

/** Vitest has another default for agents, which it detects by variables of its own choice. */
const isAgent = () =>
  Object.keys(process.env).some((name) =>
    /^(?:AI_AGENT$|CLAUDE|CODEX|CURSOR|GEMINI|OPENCODE|REPL_ID$|AUGMENT|GOOSE|KIRO|PI_)/.test(name),
  );

function configTexts(options) {
  const valueOf = (names) => {
    const at = options.findIndex((arg) => names.includes(arg.split("=")[0]));
    return at === -1 ? null : (options[at].split("=")[1] ?? options[at + 1] ?? null);
  };
  const root = resolve(valueOf(["--root", "-r"]) ?? ".");
  const named = valueOf(["--config", "-c"]);
  const files =
    named === null
      ? readdirSync(root).filter((name) => /^vite(?:st)?\.(?:config|workspace|projects)\.[cm]?[jt]s$/.test(name))
      : [named];
  return files.map((file) => readFileSync(named === null ? join(root, file) : resolve(root, file), "utf8"));
}

module.exports = { addReporter };
