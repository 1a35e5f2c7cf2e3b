/**
 * Runs `go test` with `-json`, prints the output of a run without it, and reports each test by name.
 *
 * Usage: go-test.mjs <go> test <arguments>
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { readGoArguments } from "./go-arguments.mjs";
import { goFiles } from "./go-files.mjs";
import { createGoPackage } from "./go-output.mjs";
import { passOnEnd } from "./pass-on.mjs";
import names from "./report.cjs";

const [program, ...given] = process.argv.slice(2);
const asked = readGoArguments(given.slice(1));
if (!asked.isRun) passOnEnd(spawn(program, given, { stdio: "inherit" }));
else run();

function run() {
  const report = names.openReport(names.takeFolder(), "go test");
  const args = asked.isJson ? given : ["test", "-json", ...given.slice(1)];
  const child = spawn(program, args, { stdio: ["inherit", "pipe", "inherit"] });
  const packages = new Map();
  const fileOf = goFiles(process.cwd());
  const packageOf = (name) => {
    if (!packages.has(name)) packages.set(name, createGoPackage(asked));
    return packages.get(name);
  };
  const lines = createInterface({ input: child.stdout, crlfDelay: Infinity });
  lines.on("line", (line) => {
    if (asked.isJson) print(`${line}\n`);
    const event = eventIn(line);
    if (event === null) return asked.isJson ? undefined : plainLine(line, packageOf);
    if (event.Action === "build-output") return asked.isJson ? undefined : process.stderr.write(event.Output ?? "");
    if (event.Package === undefined) return undefined;
    packageOf(event.Package).push(event);
    tell(report, event, fileOf);
  });
  const read = new Promise((resolve) => lines.on("close", resolve));
  passOnEnd(child, async () => {
    await read;
    if (!asked.isJson) printAll(packages);
    for (const [name, each] of packages) if (each.isUnloaded()) report.test("not-loaded", { package: name });
    report.end();
  });
}

function eventIn(line) {
  if (!line.startsWith("{")) return null;
  try {
    const event = JSON.parse(line);
    return typeof event.Action === "string" ? event : null;
  } catch {
    // The line was printed by a test, outside of Go's own output.
    return null;
  }
}

/** Older versions report a failed build of a package as plain text. */
function plainLine(line, packageOf) {
  const failed = /^FAIL\t(\S+) \[(?:build|setup) failed\]$/.exec(line);
  if (failed === null) print(`${line}\n`);
  else packageOf(failed[1]).push({ Action: "output", Output: `${line}\n` });
}

const OUTCOMES = { pass: "passed", fail: "failed", skip: "skipped" };

function tell(report, { Action, Package, Test }, fileOf) {
  if (Test === undefined || OUTCOMES[Action] === undefined) return;
  const file = fileOf(Package, Test);
  report.test(OUTCOMES[Action], { package: Package, ...(file === null ? {} : { file }) }, Test);
}

/** Prints packages in Go's order: as they are named, and those of one pattern by path. */
function printAll(packages) {
  const rank = (name) => {
    const at = asked.packages.findIndex((pattern) => isOf(name, pattern));
    return at === -1 ? asked.packages.length : at;
  };
  const sorted = [...packages].sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
  for (const [, each] of sorted) print(each.text());
  if (asked.packages.length > 0 && sorted.some(([, each]) => each.hasFailed())) print("FAIL\n");
}

function isOf(name, pattern) {
  const path = pattern.replace(/^\.\/?/, "").replace(/\/?\.\.\.$/, "");
  return (
    path === "" ||
    name === path ||
    name.endsWith(`/${path}`) ||
    (pattern.endsWith("...") && `/${name}/`.includes(`/${path}/`))
  );
}

function print(text) {
  process.stdout.write(text);
}
