import { blocksOf, inDocumentFolder, type Block, runCommands, stepsOf, writeStep } from "./examples.ts";

/**
 * A page whose outputs are made by running it. It is written as every other page is (`test/docs.test.ts` says how), with
 * one difference: all files are written before the first command, so that a page can show its loop first and the
 * scripts of its agents last. Below each `sh` block stands what it printed, with the parts that differ from run to run
 * as `…`.
 */
export function transcriptOf(markdown: string, main: string): string {
  const steps = stepsOf(markdown);
  const outputs = inDocumentFolder(main, (work, bin) => {
    const problems = steps.flatMap((step) => (step.kind === "file" ? writeStep(step, work) : []));
    if (problems.length > 0) throw new Error(problems.join("\n"));
    return new Map(
      steps.flatMap((step): [number, string][] => {
        if (step.kind === "file") return [];
        const { status, stdout } = runCommands(step, work, bin);
        if (status !== step.exit)
          throw new Error(`line ${step.line}: ended with ${status} instead of ${step.exit}:\n${stdout}`);
        return [[step.line, normalOutput(stdout, work)]];
      }),
    );
  });
  return withOutputs(markdown, outputs);
}

/** The page with these outputs, by the line of the block that printed them, in place of those it had. */
function withOutputs(markdown: string, outputs: ReadonlyMap<number, string>): string {
  const lines = markdown.split("\n");
  const blocks = blocksOf(markdown);
  // From the end, so that the numbers of the lines before stay right.
  for (const [index, block] of [...blocks.entries()].reverse()) {
    const output = outputs.get(block.line);
    if (output === undefined) continue;
    const next = blocks[index + 1];
    const had = next?.follows === true && OUTPUTS.has(next.info) ? next : null;
    const end = lastLineOf(block);
    const shown = output === "" ? [] : ["", "```text", ...output.split("\n"), "```"];
    lines.splice(end, had === null ? 0 : lastLineOf(had) - end, ...shown);
  }
  return lines.join("\n");
}

const OUTPUTS = new Set(["text", "json"]);

/** The number of the line that closes the block. */
const lastLineOf = ({ line, text }: Block): number => line + text.split("\n").length;

/** Times of this run: a day of its own, with or without a time. Other dates are the text of the page. */
function timesOf(now: number): RegExp {
  const days = [now - 86_400_000, now, now + 86_400_000].map((at) => new Date(at).toISOString().slice(0, 10));
  return new RegExp(
    `(?:${days.join("|")})(?:[T ]\\d\\d[:-]\\d\\d[:-]\\d\\d(?:\\.\\d+)?(?:Z|[+-]\\d\\d:?\\d\\d)?)?`,
    "g",
  );
}

/** What differs from run to run, or from machine to machine. */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  // Hashes, nonces and ids, whole or shortened; the digits after a point are a number.
  [/(?<![.\w])[0-9a-f]{12,64}\b/g, "…"],
  [/\b\d+(?:\.\d+)? (?:ms|s|min|h)\b(?: \d+ (?:s|min)\b)*/g, "… s"],
  [/duration_ms(:?) \d+(?:\.\d+)?/g, "duration_ms$1 …"],
];

/** Only a slow machine prints these lines. */
const PROGRESS = /^remand: .* \(\d+ s so far\)$/;

export function normalOutput(output: string, work: string): string {
  const named = output.replaceAll(work, "/project").replaceAll(timesOf(Date.now()), "…");
  const normal = VARIABLE.reduce((text, [pattern, instead]) => text.replaceAll(pattern, instead), named);
  return normal
    .split("\n")
    .filter((line) => !PROGRESS.test(line))
    .map((line) => line.trimEnd())
    .join("\n")
    .replace(/^\n+|\n+$/g, "");
}
