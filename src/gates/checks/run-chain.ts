/** The files that a check runs, directly or indirectly, as far as the project's files show. */
export interface RunChain {
  /** Files that are run. */
  readonly programs: ReadonlySet<string>;
  /** Makefiles that make reads, or would read if they existed. */
  readonly makefiles: ReadonlySet<string>;
}

/**
 * Follows the command lines of checks through scripts of `package.json`, makefiles and shell programs. `read` returns a
 * file from the start of the work, because what checked the work then must not change. Lines run in `folder`; file
 * names are relative to the top of the repository. Tests are not followed: what a test runs is what it tests.
 */
export async function runChain(
  lines: readonly string[],
  scripts: ReadonlyMap<string, string>,
  folder: string,
  read: (path: string) => Promise<string | null>,
  isTest: (path: string) => boolean = () => false,
): Promise<RunChain> {
  const programs = new Set<string>();
  const named = new Set<string>();
  const targets = new Map<string, Set<string>>();
  const makefiles = new Set<string>();
  const open = [...lines];
  for (let at = 0; at < open.length && at < MOST_LINES; at++) {
    for (const command of open[at]!.split(/[;&|()\n]+/)) {
      for (const name of scriptsIn(command, scripts)) {
        if (named.has(name)) continue;
        named.add(name);
        open.push(scripts.get(name)!);
      }
      for (const program of programsIn(command)) {
        const path = folder + program;
        if (programs.has(path) || programs.size >= MOST_FILES) continue;
        programs.add(path);
        if (isShell(path) && !isTest(path)) open.push(...linesOf((await read(path)) ?? ""));
      }
      const make = makeIn(command);
      if (make === null) continue;
      const names = ["GNUmakefile", "makefile", "Makefile"].map((name) => folder + name);
      // A missing makefile is included too: if it existed, make would read it instead of the existing one.
      for (const name of names) makefiles.add(name);
      const file = await firstThere(names, read);
      if (file === null) continue;
      for (const name of includesIn(file.text)) makefiles.add(folder + name);
      const rules = makeRules(file.text);
      const known = targets.get(file.path) ?? new Set<string>();
      targets.set(file.path, known);
      const wanted = [...(make.length > 0 ? make : [rules.keys().next().value ?? ""])];
      for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
        const rule = rules.get(name);
        if (rule === undefined || known.has(name)) continue;
        known.add(name);
        wanted.push(...rule.needs);
        open.push(...rule.recipe);
      }
    }
  }
  return { programs, makefiles };
}

const MOST_LINES = 2000;
const MOST_FILES = 40;

/** Programs that run a file given as argument, so that the argument is a program too (unlike an argument of `grep`). */
const RUNNERS =
  /^(?:node|nodejs|bun|deno|tsx|ts-node|npx|python[\d.]*|ruby|perl|php|sh|bash|zsh|env|time|nice|timeout|xvfb-run|exec|run|source|\.|@|-)$/;

/** Returns the files that a shell line runs: the first word of each command, and the arguments of a runner. */
function programsIn(command: string): string[] {
  const words = command.split(/[\s"']+/).filter((word) => word !== "" && !/^\w+=/.test(word));
  const programs: string[] = [];
  for (const word of words) {
    if (/^-./.test(word) || /^(?:if|then|else|elif|do|while|until|!|\{|\})$/.test(word)) continue;
    const path = word.replace(/^[@-]{0,2}(?:\.\/)?/, "");
    programs.push(path);
    if (!RUNNERS.test(path.slice(path.lastIndexOf("/") + 1))) break;
  }
  return programs.filter((path) => !path.startsWith("/") && !path.startsWith("..") && path !== "");
}

/** Whether a path may be a shell script. It need not have an extension: `bin/check`. */
const isShell = (path: string): boolean => /\.(?:sh|bash|zsh)$|\/[\w-]+$/.test(path);

const linesOf = (text: string): string[] =>
  text.split("\n").filter((line) => line.trim() !== "" && !line.trimStart().startsWith("#"));

/**
 * Returns the scripts that a command runs, with their pre and post scripts: `npm test`, `pnpm run unit`, `run-s lint
 * unit`, `node --run unit`.
 */
function scriptsIn(command: string, scripts: ReadonlyMap<string, string>): string[] {
  const words = command.split(/[\s"']+/).filter((word) => word !== "");
  const at = words.findIndex((word) => /^(?:npm|pnpm|yarn|bun|run-[sp]|npm-run-all|node|concurrently)$/.test(word));
  if (at === -1) return [];
  const isNode = words[at] === "node";
  const given = words.slice(at + 1);
  const asked = isNode
    ? given.filter((_, index) => given[index - 1] === "--run")
    : given.map((word) => word.replace(/^npm:/, ""));
  const found = asked.flatMap((word) => {
    const name = word === "t" ? "test" : word;
    if (name.endsWith("*")) return [...scripts.keys()].filter((each) => each.startsWith(name.slice(0, -1)));
    return [name];
  });
  return found.flatMap((name) => [`pre${name}`, name, `post${name}`]).filter((name) => scripts.has(name));
}

/** Returns the targets of a call of make in this folder; `null` for another command. */
function makeIn(command: string): string[] | null {
  const match = /(?:^|\s)@?g?make((?:\s+[^\s]+)*)\s*$/.exec(command.slice(0, 500));
  if (match === null || /\s-[fC]\b/.test(match[1]!)) return null;
  return match[1]!.split(/\s+/).filter((word) => /^[\w.:-]+$/.test(word) && !word.startsWith("-"));
}

/** Returns files that a makefile includes by a plain path. */
const includesIn = (text: string): string[] =>
  [...text.matchAll(/^[-s]?include[ \t]+([^\n#]+)$/gm)].flatMap(([, names]) =>
    names!.split(/\s+/).filter((name) => /^[\w./-]+$/.test(name) && !name.startsWith("/") && !name.startsWith("..")),
  );

interface MakeRule {
  readonly needs: readonly string[];
  readonly recipe: readonly string[];
}

function makeRules(text: string): Map<string, MakeRule> {
  const rules = new Map<string, { needs: string[]; recipe: string[] }>();
  let open: { needs: string[]; recipe: string[] }[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("\t")) {
      for (const rule of open) rule.recipe.push(line.trim());
      continue;
    }
    const head = /^([\w./ -]{1,200}):(?!=)([^#]{0,500})/.exec(line);
    if (head === null) continue;
    open = head[1]!
      .trim()
      .split(/\s+/)
      .filter((name) => !name.startsWith("."))
      .map((name) => {
        const rule = rules.get(name) ?? { needs: [], recipe: [] };
        rule.needs.push(...head[2]!.split(/\s+/).filter((need) => need !== ""));
        rules.set(name, rule);
        return rule;
      });
  }
  return rules;
}

async function firstThere(
  paths: readonly string[],
  read: (path: string) => Promise<string | null>,
): Promise<{ path: string; text: string } | null> {
  for (const path of paths) {
    const text = await read(path);
    if (text !== null) return { path, text };
  }
  return null;
}
