/**
 * Runs `cargo test` as it was typed and reports each test by name. With `-q` no names are printed: then the tests are
 * listed afterwards, and a test that neither failed nor was ignored counts as passed, if the numbers agree.
 *
 * Usage: cargo-test.mjs <cargo> [+toolchain] test <arguments>
 */
import { spawn } from "node:child_process";
import { cargoFiles } from "./cargo-files.mjs";
import { readBlocks, readHeads, readLists } from "./cargo-output.mjs";
import { passOnEnd } from "./pass-on.mjs";
import names from "./report.cjs";

const [program, ...given] = process.argv.slice(2);
const split = given.indexOf("--");
const ofCargo = split === -1 ? given : given.slice(0, split);
const ofTests = split === -1 ? [] : given.slice(split + 1);
const QUIET = new Set(["-q", "--quiet"]);
const isRun =
  !ofCargo.some((word) => /^(?:--no-run|--help|-h|--message-format.*|--bench(?:es)?(?:=.*)?)$/.test(word)) &&
  !ofTests.some((word) =>
    /^(?:--list|--help|-h|--bench|--format.*|--logfile.*|--nocapture|--no-capture|--show-output)$/.test(word),
  );

if (isRun) run();
else passOnEnd(spawn(program, given, { stdio: "inherit" }));

function run() {
  const report = names.openReport(names.takeFolder(), "cargo test");
  const child = spawn(program, given, { stdio: ["inherit", "pipe", "pipe"] });
  const said = collect(child, true);
  passOnEnd(child, async () => {
    const blocks = readBlocks(said.stdout());
    const isQuiet = [...ofCargo, ...ofTests].some((word) => QUIET.has(word)) || blocks.some((block) => block.isQuiet);
    const heads = isQuiet ? await fillIn(blocks) : readHeads(said.stderr());
    if (heads === null || !blocks.every((block) => block.isComplete)) return;
    const fileOf = await cargoFiles(heads, (args) =>
      output([...ofCargo.filter((word) => word.startsWith("+")), ...args]),
    );
    for (const [at, block] of blocks.entries())
      for (const [name, outcome] of block.tests) {
        const { file, crate } = fileOf(at, name);
        report.test(
          outcome,
          { ...(crate === null ? {} : { package: crate }), ...(file === null ? {} : { file }) },
          name,
        );
      }
    if (blocks.length > 0) report.end();
  });
}

/**
 * Adds the names of the tests to the blocks of a quiet run. Returns the heads, or `null` where the lists do not match.
 */
async function fillIn(blocks) {
  const loud = [
    ...ofCargo.filter((word) => !QUIET.has(word)),
    "--",
    ...ofTests.filter((word) => !QUIET.has(word)),
    "--list",
  ];
  const listed = await output(loud);
  const lists = readLists(listed.stdout);
  const hasIgnored = blocks.some((block) => block.counts.ignored > 0);
  const ignored = hasIgnored ? readLists((await output([...loud, "--ignored"])).stdout) : lists.map(() => []);
  if (lists.length < blocks.length || ignored.length < blocks.length) return null;
  for (const [at, block] of blocks.entries()) block.fillIn(lists[at], new Set(ignored[at]));
  return readHeads(listed.stderr);
}

function output(args) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const said = collect(child, false);
  return new Promise((resolve) => {
    child.on("error", () => resolve({ stdout: "", stderr: "" }));
    child.on("close", () => resolve({ stdout: said.stdout(), stderr: said.stderr() }));
  });
}

function collect(child, isPrinted) {
  const kept = { stdout: [], stderr: [] };
  for (const name of ["stdout", "stderr"])
    child[name].on("data", (piece) => {
      kept[name].push(piece);
      if (isPrinted) process[name].write(piece);
    });
  return {
    stdout: () => Buffer.concat(kept.stdout).toString("utf8"),
    stderr: () => Buffer.concat(kept.stderr).toString("utf8"),
  };
}
