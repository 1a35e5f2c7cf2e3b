#!/usr/bin/env node
/**
 * The composition root: the only file that may import every layer. It connects the command line to the real
 * environment.
 *
 * The version is printed before anything else is loaded, so that `--version` takes no longer than starting Node.
 */
import { readFileSync } from "node:fs";
import type { ExitCode, Interrupt } from "./app/command.ts";
import type { Host } from "./app/host.ts";
import type { ProgramEnvironment } from "./cli/program.ts";

const argv = process.argv.slice(2);

let isOutputGone = false;

const LAST_WORDS_MS = 10_000;
/** 128 plus the number of the signal. Not imported, because `--version` must not load the commands. */
const INTERRUPTED: { readonly [I in Interrupt]: ExitCode } = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

process.stdout.on("error", endOfOutput);
process.stderr.on("error", endOfOutput);

if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
  process.stdout.write(`${ownVersion()}\n`);
} else {
  const [{ runProgram }, { COMMANDS }, environment] = await Promise.all([
    import("./cli/program.ts"),
    import("./cli/command-table.ts"),
    realEnvironment(),
  ]).catch(reportStartFailure);
  // Node ends by itself with this exit code: `process.exit` would cut off output that is still being written to a pipe.
  process.exitCode = await runProgram(argv, environment, COMMANDS);
}

/** Reports why nothing could start. Not imported: the module that reports errors could not be loaded either. */
function reportStartFailure(error: NodeJS.ErrnoException): never {
  const [fact, fix] = startFailure(error) ?? [];
  if (fact === undefined) throw error;
  process.stderr.write(`remand: ${fact}\n  ${fix}\n`);
  process.exit(1);
}

function startFailure({ code, syscall, message }: NodeJS.ErrnoException): readonly [fact: string, fix: string] | null {
  if (syscall === "uv_cwd")
    return ["the current folder does not exist any more", "Go to a folder that exists (cd ~), and run it there."];
  if (code === "EMFILE" || code === "ENFILE") {
    const fix = "Raise the limit of open files (ulimit -n 4096), and run the same command again.";
    return [`too many files are open to start: ${message}`, fix];
  }
  return null;
}

async function realEnvironment(): Promise<ProgramEnvironment> {
  const { createNodeFiles, isFolder, readAll } = await import("./adapters/files/node-files.ts");
  const { causeOfMissingFolder } = await import("./adapters/process/unwritable-folder.ts");
  const { createKeyboard, createLineAsker } = await import("./adapters/terminal/keyboard.ts");
  const { watchFolder } = await import("./adapters/files/node-files.ts");
  const { ownRedactor } = await import("./adapters/process/own-secrets.ts");
  return {
    version: ownVersion(),
    cwd: process.cwd(),
    env: process.env,
    files: createNodeFiles(),
    terminal: process.stdout.isTTY,
    columns: () => process.stdout.columns ?? 80,
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC",
    host: lateHost({ watchFolder, clean: (text) => ownRedactor().text(text) }),
    now: () => Date.now(),
    onInterrupt,
    isFolder,
    causeOf: causeOfMissingFolder,
    stdin: () => {
      if (process.stdin.isTTY) process.stderr.write("remand: reading from the terminal; end with Ctrl-D\n");
      return readAll(process.stdin, "the standard input");
    },
    keyboard: process.stdin.isTTY && process.stdout.isTTY ? createKeyboard(process.stdin, process.stdout) : null,
    ask: process.stdin.isTTY && process.stdout.isTTY ? createLineAsker(process.stdin, process.stdout) : null,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  };
}

/** Loads the engine and its database on first use, so that other commands do not load them. */
function lateHost(early: Pick<Host, "watchFolder" | "clean">, db: string | null = null, env = process.env): Host {
  const host = async (): Promise<Host> => (await import("./compose/host.ts")).createHost(env, db);
  return {
    ...early,
    at: (other) => lateHost(early, other, env),
    withTokenFile: (file) => lateHost(early, db, { ...env, REMAND_TOKEN_FILE: file }),
    makeToken: async (root, rotate) => (await host()).makeToken(root, rotate),
    readOutline: async (root, only) => (await host()).readOutline(root, only),
    readStories: async (root, of) => (await host()).readStories(root, of),
    openView: async (root) => (await host()).openView(root),
    journalTrouble: async (root, chain) => (await host()).journalTrouble(root, chain),
    output: async (root) => (await host()).output(root),
    verify: async (root, onProgress) => (await host()).verify(root, onProgress),
    verifyCommits: async (root, plan) => (await host()).verifyCommits(root, plan),
    receiptKeys: async (root, rotate) => (await host()).receiptKeys(root, rotate),
    receiptFiles: async (root) => (await host()).receiptFiles(root),
    appendEvents: async (root, stream, events) => (await host()).appendEvents(root, stream, events),
    appendEach: async (root, streams) => (await host()).appendEach(root, streams),
    openEngine: async (root, plan) => (await host()).openEngine(root, plan),
    clone: async (plan) => (await host()).clone(plan),
    work: async (root, plan) => (await host()).work(root, plan),
    preflight: async (root, plan) => (await host()).preflight(root, plan),
    gate: async (root, plan) => (await host()).gate(root, plan),
    blame: async (root, plan) => (await host()).blame(root, plan),
    stop: async (root, plan) => (await host()).stop(root, plan),
    offer: async (tools, about) => (await host()).offer(tools, about),
    probe: async (root, programs, checks) => (await host()).probe(root, programs, checks),
    hide: async (root, plan) => (await host()).hide(root, plan),
    serve: async (root, plan) => (await host()).serve(root, plan),
    rehearse: async (root, plan) => (await host()).rehearse(root, plan),
    migrate: async (root, plan) => (await host()).migrate(root, plan),
    userName: async (root) => (await host()).userName(root),
    demoRepository: async (files) => (await host()).demoRepository(files),
  };
}

/**
 * The first signal calls `handler`. The second kills what is still ending, and the program exits once that is recorded,
 * or after `LAST_WORDS_MS`. The third exits at once. No signal leaves an agent running.
 */
function onInterrupt(handler: (signal: Interrupt) => void, atOnce: () => void = () => undefined): () => void {
  let signals = 0;
  let killAll = (): void => undefined;
  const killNow = async (): Promise<void> => {
    const processes = await import("./adapters/process/run-process.ts");
    killAll = processes.killGroups;
    processes.endAtOnce();
  };
  const listeners = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => {
    const exit = (): never => {
      killAll();
      process.exit(INTERRUPTED[signal]);
    };
    const listener = (): void => {
      signals++;
      if (signals === 1) return handler(signal);
      if (signals > 2) return exit();
      atOnce();
      setTimeout(exit, LAST_WORDS_MS).unref();
      void killNow();
    };
    process.on(signal, listener);
    return () => void process.off(signal, listener);
  });
  return () => listeners.forEach((stop) => stop());
}

function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return version;
}

/**
 * The reader of the output may stop reading (`remand stories | head`), or the terminal may be closed: the program then
 * ends without an error. A command that stops by signals is stopped by one here, so that it ends its processes.
 */
function endOfOutput(error: NodeJS.ErrnoException): void {
  const isGone = error.code === "EPIPE" || error.code === "EIO";
  if (isGone && process.listenerCount("SIGHUP") > 0) {
    if (!isOutputGone) process.emit("SIGHUP");
    isOutputGone = true;
    return;
  }
  if (error.code === "EPIPE") process.exit();
  process.stderr.write(`remand: cannot write the output: ${error.message}\n`);
  process.exit(1);
}
