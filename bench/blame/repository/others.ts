import { existsSync } from "node:fs";
import { join } from "node:path";
import { looksLikeTest } from "../../../src/core/blame/change.ts";
import { signatureOf } from "../../../src/core/blame/failure.ts";
import { failsAlike, hunksBetween, onBase, truthOf, type RepositoryCase } from "./cases.ts";
import { languageOf, type Language } from "./language.ts";
import { bodyIn, caseWith, withLines, type Body, type Ground, type Slip } from "./making.ts";
import type { Trouble, Workshop } from "./workshop.ts";

const leave = (language: Language): string =>
  language === "py" ? "return None" : language === "ts" ? "return undefined as never;" : "return undefined;";

/** A setting that breaks nothing by itself, and code that fails with it: only both together break a test. */
export async function joint(ground: Ground, { page, after, indent }: Body): Promise<RepositoryCase | null> {
  const { workshop, iteration } = ground;
  const isPython = page.language === "py";
  const setting = (value: boolean): string[] =>
    isPython
      ? ["", `TUNING = {"strict": ${value ? "True" : "False"}}`, ""]
      : ["", `const tuning = { strict: ${value} };`, ""];
  const calm = withLines(page, setting(false), after, []);
  const guard = isPython
    ? [`${indent}if TUNING["strict"]:`, `${indent}    return None`]
    : [`${indent}if (tuning.strict) ${leave(page.language)}`];
  const wild = withLines(page, setting(true), after, guard);
  if (calm === null || wild === null || page.lines.some((line) => /\btuning\b/i.test(line))) return null;
  const clean = await workshop.treeWith(iteration.tree, new Map([[page.path, calm]]));
  const put = await truthOf(workshop, iteration.base, iteration.tree, clean);
  if (put === null) return null;
  // The setting is part of the base.
  const base = await onBase(workshop, { base: iteration.base, tree: clean, hunks: put.hunks }, put.truth);
  const made = await caseWith(ground, "joint", ["setting", "under the setting"], new Map([[page.path, wild]]), {
    base,
    clean,
  });
  return made === null || made.truth.length !== 2 ? null : asRegression(ground, made);
}

/** New code with its tests also fails without its base, so it cannot be told from code that is not written yet. */
async function asRegression({ workshop }: Ground, made: RepositoryCase): Promise<RepositoryCase | null> {
  const alone = await workshop.suite(await onBase(workshop, made, made.truth));
  return failsAlike(workshop, made.run, alone) ? made : null;
}

const TROUBLES: Readonly<Record<"py" | "js", readonly string[]>> = {
  py: [
    'raise ConnectionRefusedError(111, "Connection refused")',
    'raise OSError(28, "No space left on device")',
    'raise OSError(98, "Address already in use")',
    '__import__("socket").create_connection(("127.0.0.1", 9), 1)',
  ],
  js: [
    'throw Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" });',
    'throw Object.assign(new Error("getaddrinfo ENOTFOUND db.internal"), { code: "ENOTFOUND" });',
    'throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });',
    'throw Object.assign(new Error("listen EADDRINUSE: address already in use :::3000"), { code: "EADDRINUSE" });',
  ],
};

/** An error of the iteration itself that looks like an infrastructure failure. */
async function lookalike(ground: Ground, { page, after, indent }: Body): Promise<RepositoryCase | null> {
  const trouble = ground.chance.pick(TROUBLES[page.language === "py" ? "py" : "js"]);
  const text = withLines(page, [], after, [
    `${indent}${page.language === "ts" ? `if (Date.now() > 0) ${trouble}` : trouble}`,
  ]);
  const made =
    text === null
      ? null
      : await caseWith(ground, "lookalike", ["looks like the infrastructure"], new Map([[page.path, text]]));
  return made === null || made.truth.length !== 1 ? null : asRegression(ground, made);
}

const MOST_TRIES = 8;

/** An existing function that tests reach, found by breaking it and running them. */
export async function reachedBody(
  ground: Ground,
): Promise<{ readonly body: Body; readonly seen: RepositoryCase } | null> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const body = bodyIn(ground);
    const seen = body === null ? null : await lookalike(ground, body);
    if (body !== null && seen !== null) return { body, seen };
  }
  return null;
}

/** The same failure on the base: then it existed before, whatever it is. */
export async function wasBefore(
  ground: Ground,
  each: RepositoryCase,
  category: "environment" | "pre-existing",
): Promise<RepositoryCase | null> {
  const { workshop } = ground;
  const base = await onBase(workshop, each, each.truth);
  // Half of a change also fails on the base, but in another way, which is not an earlier failure.
  if (!failsAlike(workshop, each.run, await workshop.suite(base), signatureOf)) return null;
  const hunks = await hunksBetween(workshop, base, each.tree);
  if (hunks.length === 0) return null;
  return { ...each, category, base, hunks, diff: await workshop.diff(base, each.tree), truth: [] };
}

export function preExisting(ground: Ground, slips: readonly Slip[]): Promise<RepositoryCase | null> {
  const known = slips.filter(({ alone }) => alone !== null);
  return known.length === 0 ? Promise.resolve(null) : wasBefore(ground, ground.chance.pick(known).each, "pre-existing");
}

const MOST_RUNS = 8;

/** A test that passes and fails by chance, before the iteration and after it. */
export async function flaky(ground: Ground, { page, after, indent }: Body): Promise<RepositoryCase | null> {
  const { workshop, iteration } = ground;
  const isPython = page.language === "py";
  const head = isPython
    ? ["", 'CHANCE = __import__("random").random() < 0.5', ""]
    : ["", "const chance = Math.random() < 0.5;", ""];
  const guard = isPython
    ? [`${indent}if CHANCE:`, `${indent}    return None`]
    : [`${indent}if (chance) ${leave(page.language)}`];
  const text = withLines(page, head, after, guard);
  if (text === null || page.lines.some((line) => /\bchance\b/i.test(line))) return null;
  const tree = await workshop.treeWith(iteration.tree, new Map([[page.path, text]]));
  const put = await truthOf(workshop, iteration.base, iteration.tree, tree);
  if (put === null) return null;
  const base = await onBase(workshop, { base: iteration.base, tree, hunks: put.hunks }, put.truth);
  let [red, green] = [await workshop.suite(tree, { afresh: true }), false];
  for (let runs = 1; runs < MOST_RUNS && !(red.failed && green); runs++) {
    const run = await workshop.suite(tree, { afresh: true });
    if (run.failed) red = run;
    green ||= run.passed;
  }
  if (!red.failed || !green) return null;
  const { origin, label } = iteration;
  const diff = await workshop.diff(base, tree);
  const hunks = await hunksBetween(workshop, base, tree);
  const root = workshop.bench.path;
  return { category: "flaky", origin, label, kinds: ["by chance"], base, tree, diff, hunks, run: red, truth: [], root };
}

/** The iteration passes, but not here: a program or a package is missing, or a port is taken. */
export async function breakEnvironment({ workshop, iteration, chance }: Ground): Promise<RepositoryCase | null> {
  const { base, tree, origin, label } = iteration;
  const [kind, trouble] = chance.pick(troublesFor(workshop, tree, chance));
  const run = await workshop.suite(tree, { trouble });
  if (run.passed) return null;
  const hunks = await hunksBetween(workshop, base, tree);
  const diff = await workshop.diff(base, tree);
  const root = workshop.bench.path;
  return {
    category: "environment",
    origin,
    label,
    kinds: [kind],
    base,
    tree,
    diff,
    hunks,
    run,
    truth: [],
    root,
    trouble,
  };
}

function troublesFor(
  { command, bench, paths, text }: Workshop,
  tree: string,
  chance: Ground["chance"],
): (readonly [kind: string, trouble: Trouble])[] {
  const port = 20_000 + chance.below(20_000);
  const listen = `require('net').createServer().listen(${port},'127.0.0.1').on('listening',()=>process.exit(0))`;
  const packages = new Set(
    paths(tree)
      .filter((path) => looksLikeTest(path) && ["js", "ts"].includes(languageOf(path) ?? ""))
      .flatMap((path) => [...(text(tree, path) ?? "").matchAll(/(?:require\(|from )["']((?:@[\w-]+\/)?[\w-]+)["']/g)])
      .map((match) => join("node_modules", match[1]!)),
  );
  const hidden = [...packages].filter((folder) => existsSync(join(bench.path, folder)));
  return [
    ["missing program", { command: command.replace(/^\S+/, (word) => `${word}-of-ours`) }],
    ["port in use", { command: `node -e "${listen}" && ${command}`, port }],
    ...(hidden.length === 0 ? [] : [["missing package", { hidden: chance.pick(hidden) }] as const]),
  ];
}

/** Tests of missing code: the iteration's own tests without its code, or an added test. */
export async function unmet(ground: Ground): Promise<RepositoryCase | null> {
  const { workshop, iteration, chance } = ground;
  const { base, tree: clean, origin, label } = iteration;
  const finished = async (tree: string): Promise<RepositoryCase | null> => {
    const run = await workshop.suite(tree);
    const hunks = await hunksBetween(workshop, base, tree);
    if (!run.failed || hunks.length < 2) return null;
    return {
      category: "unmet",
      origin,
      label,
      kinds: ["not built yet"],
      base,
      tree,
      diff: await workshop.diff(base, tree),
      hunks,
      run,
      truth: [],
      root: workshop.bench.path,
    };
  };
  if (origin === "history") {
    const hunks = await hunksBetween(workshop, base, clean);
    const tests = hunks.filter(({ file }) => looksLikeTest(file) || /\.mdx?$/.test(file)).map(({ id }) => id);
    if (!hunks.some(({ file }) => looksLikeTest(file))) return null;
    return finished(await onBase(workshop, { base, tree: clean, hunks }, tests));
  }
  const tests = workshop
    .paths(clean)
    .filter((path) => looksLikeTest(path) && ["js", "ts", "py"].includes(languageOf(path) ?? ""));
  for (const path of chance.shuffled(tests).slice(0, 6)) {
    const text = workshop.text(clean, path);
    const more = text === null ? null : askingTest(text, languageOf(path)!);
    if (more !== null)
      return finished(await workshop.treeWith(clean, new Map([[path, `${text!.trimEnd()}\n\n${more}\n`]])));
  }
  return null;
}

function askingTest(text: string, language: Language): string | null {
  if (language === "py") {
    if (/^def test_/m.test(text)) return 'def test_what_is_asked_for():\n    assert "feature" in globals()';
    return /^class \w+\(.*TestCase\):/m.test(text) && !/^if __name__/m.test(text)
      ? 'class AskedFor(unittest.TestCase):\n    def test_what_is_asked_for(self):\n        self.assertIn("feature", globals())'
      : null;
  }
  const word = /^\s*(test|it)\(/m.exec(text)?.[1];
  return word === undefined
    ? null
    : `${word}("what is asked for and not yet there", () => {\n  if (!("feature" in globalThis)) throw new Error("expected feature to be there");\n});`;
}
