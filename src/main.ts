#!/usr/bin/env node
/**
 * The composition root: the only file that knows every room. It joins the command line to the real world.
 *
 * The version is answered before anything else is loaded, so that asking for it costs what starting Node costs.
 */
import { readFileSync } from "node:fs";
import type { Surroundings } from "./cli/program.ts";

const argv = process.argv.slice(2);

process.stdout.on("error", endOfOutput);
process.stderr.on("error", endOfOutput);

if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
  process.stdout.write(`${ownVersion()}\n`);
} else {
  const [{ runProgram }, { COMMANDS }, surroundings] = await Promise.all([
    import("./cli/program.ts"),
    import("./cli/command-table.ts"),
    realSurroundings(),
  ]);
  // The code is set and Node ends by itself: `process.exit` would cut off output that is still on its way to a pipe.
  process.exitCode = await runProgram(argv, surroundings, COMMANDS);
}

async function realSurroundings(): Promise<Surroundings> {
  const { createNodeFiles, isFolder, readAll } = await import("./adapters/files/node-files.ts");
  return {
    version: ownVersion(),
    cwd: process.cwd(),
    env: process.env,
    files: createNodeFiles(),
    terminal: process.stdout.isTTY,
    isFolder,
    stdin: () => {
      if (process.stdin.isTTY) process.stderr.write("remand: reading from the terminal; end with Ctrl-D\n");
      return readAll(process.stdin, "the standard input");
    },
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  };
}

function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return version;
}

/** Whoever reads the output may stop reading (`remand stories | head`): that is an ending, not an error. */
function endOfOutput(error: NodeJS.ErrnoException): never {
  if (error.code === "EPIPE") process.exit();
  process.stderr.write(`remand: cannot write the output: ${error.message}\n`);
  process.exit(1);
}
