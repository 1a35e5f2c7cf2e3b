import type { ChangedHunk } from "../../src/core/blame/change.ts";
import { readHunks } from "../../src/parse/code/failure-material.ts";
import { readGitDiff, type FileDiff } from "../../src/parse/code/git-output.ts";
import { EDITS, type Files } from "./innocent-edits.ts";
import type { TestFolder } from "./place.ts";
import type { Project } from "./projects.ts";
import { chanceOf, type Chance } from "./random.ts";
import { slipsIn, withSlip, type Slip } from "./slips.ts";

/** An iteration that turned the tests red, and its cause. */
export interface Case {
  readonly name: string;
  readonly category: "single" | "multi" | "joint" | "unmet" | "pre-existing" | "environment" | "flaky";
  readonly kinds: readonly string[];
  readonly base: Files;
  readonly iteration: Files;
  readonly diff: readonly FileDiff[];
  readonly hunks: readonly ChangedHunk[];
  readonly output: string;
  /** The reporter of the run, which is also used for its repetitions. */
  readonly reporter: string;
  /** Ids of the hunks with the slips; empty if no change is the cause. */
  readonly truth: readonly number[];
}

const TRIES = 12;

/** Makes a passing iteration of innocent edits, and adds slips until the tests fail. */
export function makeCase(project: Project, seed: number, category: Case["category"], place: TestFolder): Case | null {
  const chance = chanceOf(seed);
  const base: Files = new Map(Object.entries(project.files));
  const clean = innocentIteration(base, chance, place);
  if (clean === null) return null;
  if (category !== "single" && category !== "multi" && category !== "joint")
    return nobodys(project, seed, category, base, clean, place);
  for (let tries = 0; tries < TRIES; tries++) {
    const slips =
      category === "joint" ? jointSlips(clean, chance) : chooseSlips(clean, chance, category === "single" ? 1 : 2);
    if (slips === null) continue;
    const iteration = withSlips(clean, slips);
    const reporter = seed % 2 === 0 ? "spec" : "tap";
    const run = place.run(iteration, null, reporter);
    if (run.passed) continue;
    if (category !== "single" && !isOfCategory(category, clean, slips, place)) continue;
    const diff = readGitDiff(place.diff(base, iteration));
    const hunks = readHunks(diff);
    const truth = slips.flatMap((slip) => hunkOf(slip, clean, hunks) ?? []);
    if (truth.length !== slips.length || new Set(truth).size !== truth.length) continue;
    return {
      name: `${project.name} ${seed}`,
      category,
      kinds: slips.map((slip) => slip.kind),
      base,
      iteration,
      diff,
      hunks,
      output: run.output,
      reporter,
      truth,
    };
  }
  return null;
}

function innocentIteration(base: Files, chance: Chance, place: TestFolder): Files | null {
  for (let tries = 0; tries < 5; tries++) {
    const files: Files = new Map(base);
    const count = 14 + chance.below(24);
    for (let serial = 1; serial <= count; serial++) chance.pick(EDITS)(files, chance, serial);
    if (place.run(files, null).passed) return files;
  }
  return null;
}

function chooseSlips(files: Files, chance: Chance, count: number): Slip[] | null {
  const all = [...files]
    .filter(([path]) => /^(?:src|lib|data|config)\//.test(path))
    .flatMap(([path, text]) => slipsIn(path, text, chance));
  const kinds = [...new Set(all.map((slip) => slip.kind))];
  const slips = Array.from({ length: count }, () => {
    const kind = chance.pick(kinds);
    return chance.pick(all.filter((slip) => slip.kind === kind));
  });
  return new Set(slips.map((slip) => `${slip.file}:${Math.floor(slip.at / 4)}`)).size === count ? slips : null;
}

/** A setting that breaks nothing by itself, and code that fails with it: only both together break a test. */
function jointSlips(files: Files, chance: Chance): Slip[] | null {
  const readers = [...files].flatMap(([path, text]) => {
    const found = /const (\w+) = JSON\.parse\(readFileSync\(new URL\("\.\.\/([\w/]+\.json)"/.exec(text);
    return found === null ? [] : [{ path, name: found[1]!, data: found[2]! }];
  });
  if (readers.length === 0) return null;
  const { path, name, data } = chance.pick(readers);
  const lines = files.get(path)!.split("\n");
  const bodies = lines.flatMap((line, at) => (/^export function \w+\(.*\{$/.test(line) ? [at] : []));
  if (bodies.length === 0) return null;
  const at = chance.pick(bodies);
  return [
    { kind: "setting", file: data, at: 0, lines: ["{", '  "strict": true,'] },
    { kind: "under the setting", file: path, at, lines: [lines[at]!, `  if (${name}.strict) return undefined;`] },
  ];
}

function withSlips(files: Files, slips: readonly Slip[]): Files {
  const changed: Files = new Map(files);
  // From the end to the beginning, so that positions stay valid.
  for (const slip of [...slips].sort((a, b) => b.at - a.at))
    changed.set(slip.file, withSlip(changed.get(slip.file)!, slip));
  return changed;
}

/** Tests that fail whatever the iteration did. */
const RED: Readonly<Record<string, readonly string[]>> = {
  "pre-existing": ['test("what was red before", () => {', "  assert.equal(2 + 2, 5);", "});"],
  environment: [
    'test("the service answers", async () => {',
    '  await new Promise((resolve, reject) => net.connect(9, "127.0.0.1").on("error", reject).on("connect", resolve));',
    "});",
  ],
  flaky: ['test("comes and goes", () => {', "  assert.equal(Math.random() < 0.5, true);", "});"],
  unmet: [
    'test("what is asked for and not yet there", () => {',
    '  assert.equal(typeof globalThis.feature, "function");',
    "});",
  ],
};

function nobodys(
  project: Project,
  seed: number,
  category: Case["category"],
  base: Files,
  clean: Files,
  place: TestFolder,
): Case | null {
  const path = [...base.keys()].find((each) => each.endsWith(".test.js"))!;
  const red = (text: string): string => {
    const word = /import \{[^}]*\b(test|it)\b/.exec(text)?.[1] ?? "test";
    return `${category === "environment" ? 'import net from "node:net";\n' : ""}${text}\n${RED[category]!.join("\n").replace(/^test/, word)}\n`;
  };
  // An unmet test comes with the iteration; all others existed before.
  const before: Files = category === "unmet" ? base : new Map(base).set(path, red(base.get(path)!));
  const iteration: Files = new Map(clean).set(path, red(clean.get(path)!));
  for (let tries = 0; tries < TRIES; tries++) {
    const run = place.run(iteration, null);
    if (run.passed) continue;
    const diff = readGitDiff(place.diff(before, iteration));
    return {
      name: `${project.name} ${seed}`,
      category,
      kinds: [],
      base: before,
      iteration,
      diff,
      hunks: readHunks(diff),
      output: run.output,
      reporter: "spec",
      truth: [],
    };
  }
  return null;
}

/** Several culprits each break the tests alone; joint ones only together. */
function isOfCategory(category: Case["category"], clean: Files, slips: readonly Slip[], place: TestFolder): boolean {
  const alone = slips.map((slip) => place.run(withSlips(clean, [slip]), null).passed);
  return category === "multi" ? alone.every((passed) => !passed) : alone.every((passed) => passed);
}

function hunkOf(slip: Slip, clean: Files, hunks: readonly ChangedHunk[]): number | null {
  const lines = clean.get(slip.file)!.split("\n");
  const [text, now] = [lines[slip.at]!, slip.lines.find((line) => line !== lines[slip.at])];
  const inFile = hunks.filter((hunk) => hunk.file === slip.file);
  const found = inFile.find(
    (hunk) =>
      Math.abs(hunk.start - (slip.at + 1)) <= hunk.added.length + 8 &&
      (now === undefined
        ? hunk.removed.includes(text) && !hunk.added.includes(text)
        : hunk.added.includes(now) && hunk.start <= slip.at + 9),
  );
  return found?.id ?? null;
}
