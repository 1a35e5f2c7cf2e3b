import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { sandboxMode } from "../kit/sandbox.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** A fenced block of a document. `info` is what stands after the fence: the language, then words for the test. */
export interface Block {
  readonly info: string;
  readonly line: number;
  readonly text: string;
  /** Nothing but blank lines stand between the block before and this one. */
  readonly follows: boolean;
}

export type Step =
  | { readonly kind: "file"; readonly line: number; readonly path: string; readonly text: string }
  | {
      readonly kind: "commands";
      readonly line: number;
      readonly commands: string;
      readonly inRepository: boolean;
      readonly exit: number;
      /** What the document shows as the output, or `null` where it shows none. */
      readonly shown: string | null;
    };

/** The steps of a document, in order. A fence that fits no rule is an error, so that a typing mistake hides no example. */
export function stepsOf(markdown: string): readonly Step[] {
  const steps: Step[] = [];
  const blocks = blocksOf(markdown);
  for (const [index, block] of blocks.entries()) {
    const [language = "", ...words] = block.info.split(/\s+/);
    const file = words.map((word) => /^file=(.+)$/.exec(word)?.[1]).find((path) => path !== undefined);
    if (file !== undefined) steps.push({ kind: "file", line: block.line, path: file, text: block.text });
    else if (language === "sh" && !/^sh no-run="[^"]+"$/.test(block.info)) {
      if (words.some((word) => word !== "in-repository")) {
        throw new Error(`line ${block.line}: \`\`\`${block.info} is none of: sh, sh in-repository, sh no-run="reason"`);
      }
      const next = blocks[index + 1];
      const shown = next?.follows === true && ["text", "json"].includes(next.info) ? next.text : null;
      steps.push({
        kind: "commands",
        line: block.line,
        ...commandsIn(block.text),
        inRepository: words.length > 0,
        shown,
      });
    } else if (["bash", "shell", "console", "zsh"].includes(language)) {
      throw new Error(`line ${block.line}: commands are shown as \`\`\`sh, so that they are tested`);
    }
  }
  return steps;
}

function commandsIn(text: string): { commands: string; exit: number } {
  const exit = /# exit (\d+)\s*$/.exec(text);
  return { commands: text, exit: exit === null ? 0 : Number(exit[1]) };
}

export function blocksOf(markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: { fence: string; info: string; line: number; text: string[]; follows: boolean } | null = null;
  let blankSinceBlock = false;
  for (const [index, line] of markdown.split(/\r?\n/).entries()) {
    const fence = /^(`{3,}|~{3,})(.*)$/.exec(line);
    if (open !== null) {
      if (fence !== null && fence[1]!.startsWith(open.fence) && fence[2]!.trim() === "") {
        blocks.push({
          info: open.info,
          line: open.line,
          text: open.text.map((x) => `${x}\n`).join(""),
          follows: open.follows,
        });
        open = null;
        blankSinceBlock = true;
      } else open.text.push(line);
    } else if (fence !== null) {
      open = { fence: fence[1]!, info: fence[2]!.trim(), line: index + 1, text: [], follows: blankSinceBlock };
    } else if (line.trim() !== "") blankSinceBlock = false;
  }
  if (open !== null) throw new Error(`line ${open.line}: the fence is never closed`);
  return blocks;
}

/** Runs a document's steps in one new folder, and returns what is not as the document says, each with its line. */
export const runSteps = (steps: readonly Step[], main: string): readonly string[] =>
  inDocumentFolder(main, (work, bin) =>
    steps.flatMap((step) => (step.kind === "file" ? writeStep(step, work) : runStep(step, work, bin))),
  );

/** Makes the folder in which a document's commands run, with `remand` on the path, and removes it afterwards. */
export function inDocumentFolder<T>(main: string, run: (work: string, bin: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "remand-docs-"));
  try {
    const bin = shimFolder(folder, main);
    // Scripts of a document find the package as if it had been installed.
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(repository, join(folder, "node_modules", "remand"));
    symlinkSync(join(repository, "node_modules", "@opentelemetry"), join(folder, "node_modules", "@opentelemetry"));
    const work = join(folder, "work");
    for (const each of [work, homeOf(work)]) mkdirSync(each);
    return run(work, bin);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Beside the project: what Remand keeps for its user is no file of the project. */
const homeOf = (work: string): string => join(dirname(work), "home");

function shimFolder(folder: string, main: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const shim = join(bin, "remand");
  writeFileSync(shim, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(shim, 0o755);
  return bin;
}

export function writeStep(step: Step & { kind: "file" }, work: string): readonly string[] {
  const path = normalize(step.path);
  if (path.startsWith("..") || path.startsWith("/")) return [`line ${step.line}: file=${step.path} leaves the folder`];
  mkdirSync(dirname(join(work, path)), { recursive: true });
  writeFileSync(join(work, path), step.text);
  return [];
}

function runStep(step: Step & { kind: "commands" }, work: string, bin: string): readonly string[] {
  const { status, stdout } = runCommands(step, work, bin);
  const complaints: string[] = [];
  if (status !== step.exit)
    complaints.push(`line ${step.line}: ended with ${status} instead of ${step.exit}:\n${stdout}`);
  if (step.shown !== null && !isShown(stdout, step.shown)) {
    complaints.push(`line ${step.line}: the document shows\n${step.shown}\nbut the output is\n${stdout}`);
  }
  return complaints;
}

export function runCommands(
  step: Step & { kind: "commands" },
  work: string,
  bin: string,
): { readonly status: number | null; readonly stdout: string } {
  // Packages and build are there when tests run; doing it again would pull them from under the other tests.
  const commands = step.inRepository ? step.commands.replace(SET_UP, "") : step.commands;
  return spawnSync("bash", ["-e", "-u", "-o", "pipefail", "-c", `exec 2>&1\n${commands}`], {
    cwd: step.inRepository ? repository : work,
    encoding: "utf8",
    timeout: 500_000,
    env: {
      PATH: `${bin}:${process.env["PATH"]}`,
      HOME: homeOf(work),
      // Readers type the answers in a terminal; the examples have none.
      XDG_STATE_HOME: process.env["XDG_STATE_HOME"],
      REMAND_TOKEN: process.env["REMAND_TOKEN"],
      // A machine without a sandbox says so in every run, and the documents do not.
      REMAND_SANDBOX: sandboxMode(),
      LANG: "C.UTF-8",
      TZ: "UTC",
      NO_COLOR: "1",
      npm_config_update_notifier: "false",
      // What is built is there already: `predemo` would build it again.
      ...(step.inRepository ? { npm_config_ignore_scripts: "true" } : {}),
    },
  });
}

const SET_UP = /^(?:npm ci && )?(?:npm run (?:--silent )?build && )?/;

/** Is the output what the document shows? `…` stands for any text; alone on its line it stands for any lines. */
export function isShown(output: string, shown: string): boolean {
  const pattern = shown
    .trim()
    .split("\n")
    .map((line) => (line.trim() === "…" ? "(?:.*\n)*?" : `${line.trimEnd().split("…").map(escaped).join(".*")}\n`))
    .join("");
  const lines = output
    .split("\n")
    .filter((line) => !PROGRESS.test(line))
    .map((line) => line.trimEnd());
  return new RegExp(`^${pattern}$`).test(`${lines.join("\n").trim()}\n`);
}

/** Only a slow machine prints these lines. */
const PROGRESS = /^remand: (?:still running: .*|.* \(\d+ s so far\))$/;

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
