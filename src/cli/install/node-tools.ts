import { LOCKFILES } from "../../parse/code/manifests.ts";
import { readJson } from "../../parse/data/data-text.ts";
import { isRecord } from "../../stdx/assert.ts";
import type { ProjectReader, ProjectTools } from "./project-reader.ts";

/** How each package manager is told to run a script, and a program of the project's packages. */
const MANAGERS = {
  npm: { test: "npm test", run: "npm run", exec: "npx", each: "npm test --workspaces --if-present" },
  pnpm: { test: "pnpm test", run: "pnpm run", exec: "pnpm exec", each: "pnpm --recursive test" },
  yarn: { test: "yarn test", run: "yarn run", exec: "yarn", each: "yarn workspaces run test" },
  bun: { test: "bun run test", run: "bun run", exec: "bunx", each: "bun run --filter '*' test" },
} as const;
type Manager = keyof typeof MANAGERS;

/** Runners that are started by themselves where no script does, once and not as a watcher. */
const RUNNERS: Readonly<Record<string, string>> = {
  vitest: "vitest run",
  jest: "jest",
  mocha: "mocha",
  ava: "ava",
  jasmine: "jasmine",
};

const LINT_SCRIPTS = ["lint", "lint:check", "check:lint"];
const TYPE_SCRIPTS = ["typecheck", "type-check", "types", "types:check", "check-types", "check:types", "tsc"];
/** Scripts that run the tests once, where `test` keeps watching. */
const ONCE_SCRIPTS = ["test:run", "test:ci", "ci:test", "test:once", "test:unit"];

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: ReadonlySet<string>;
  readonly manager: string | null;
  readonly workspaces: readonly string[];
}

/** The tools of a package of npm's kind; `null` where there is no package.json. */
export async function nodeTools(at: ProjectReader): Promise<ProjectTools | null> {
  const manifest = manifestIn(await at.text("package.json"));
  if (manifest === null) return null;
  const { manager, by } = await managerOf(at, manifest);
  const packages = await packagesOf(at, manifest);
  const command = MANAGERS[manager];
  const script = testScript(manifest);
  const runner = Object.keys(RUNNERS).find((name) => manifest.dependencies.has(name));
  const test =
    script === "test"
      ? command.test
      : script !== null
        ? `${command.run} ${script}`
        : packages !== null
          ? command.each
          : runner === undefined
            ? null
            : `${command.exec} ${RUNNERS[runner]}`;
  const ran = script === null ? "" : expanded(script, manifest.scripts);
  const other = (names: readonly string[]): string | null => {
    const name = names.find((each) => Object.hasOwn(manifest.scripts, each) && !isWatching(manifest.scripts[each]!));
    // What the test script does already is not done twice.
    return name === undefined || runsScript(ran, name) || ran.includes(manifest.scripts[name]!)
      ? null
      : `${command.run} ${name}`;
  };
  return { stack: `${manager} (${by})`, packages, test, lint: other(LINT_SCRIPTS), types: other(TYPE_SCRIPTS) };
}

/** What `npm init` writes for want of a test fails whatever is done, and would be taken for the work's fault. */
function testScript({ scripts }: Manifest): string | null {
  const { test } = scripts;
  if (test === undefined || /^echo .*no test specified/.test(test)) return null;
  if (!isWatching(test)) return "test";
  return ONCE_SCRIPTS.find((name) => Object.hasOwn(scripts, name) && !isWatching(scripts[name]!)) ?? null;
}

const isWatching = (script: string): boolean =>
  /--watch(?:All)?\b(?!=false)|\b(?:vitest|tsc) (?:watch|-w)\b/.test(script);

/** A script with the scripts that it runs. */
function expanded(name: string, scripts: Readonly<Record<string, string>>, seen: readonly string[] = []): string {
  const script = scripts[name] ?? "";
  const more = Object.keys(scripts).filter((each) => !seen.includes(each) && each !== name && runsScript(script, each));
  return [script, ...more.map((each) => expanded(each, scripts, [...seen, name]))].join(" && ");
}

const runsScript = (line: string, name: string): boolean =>
  line.split(/&&|\|\||;/).some((part) => {
    const [program = "", ...args] = part.trim().split(/\s+/);
    return Object.hasOwn(MANAGERS, program) && args[args[0] === "run" ? 1 : 0] === name;
  });

/** The manager that the manifest names, else the one whose lockfile is here or above, else npm. */
async function managerOf(at: ProjectReader, manifest: Manifest): Promise<{ manager: Manager; by: string }> {
  for (let place: ProjectReader | null = at; place !== null; place = await place.above()) {
    const named = place === at ? manifest.manager : (manifestIn(await place.text("package.json"))?.manager ?? null);
    const manager = managerNames.find((name) => named?.startsWith(`${name}@`) === true);
    if (manager !== undefined) return { manager, by: "packageManager in package.json" };
    const lockfile = await place.first(...LOCKFILES.filter((name) => managerOfLockfile(name) !== undefined));
    if (lockfile !== null) return { manager: managerOfLockfile(lockfile)!, by: lockfile };
  }
  return { manager: "npm", by: "package.json" };
}

const managerNames = Object.keys(MANAGERS) as Manager[];

const managerOfLockfile = (lockfile: string): Manager | undefined =>
  lockfile === "package-lock.json" || lockfile === "npm-shrinkwrap.json"
    ? "npm"
    : managerNames.find((name) => lockfile.startsWith(name));

async function packagesOf(at: ProjectReader, { workspaces }: Manifest): Promise<string | null> {
  const text = await at.text("pnpm-workspace.yaml");
  const listed = /^packages:\s*\n((?:\s*(?:-.*|#.*)?\n?)+)/m.exec(text ?? "")?.[1] ?? "";
  const patterns = [
    ...workspaces,
    ...[...listed.matchAll(/^\s*-\s*["']?([^"'\s#]+)/gm)].map(([, pattern]) => pattern!),
  ];
  const inside = patterns.filter((pattern) => !pattern.startsWith("!"));
  return inside.length === 0 ? null : inside.join(", ");
}

function manifestIn(text: string | null): Manifest | null {
  const read = text === null ? null : readJson(text);
  const value = read?.ok === true ? read.value : null;
  if (!isRecord(value)) return null;
  const { scripts, workspaces, packageManager } = value;
  const patterns = isRecord(workspaces) ? workspaces["packages"] : workspaces;
  return {
    scripts: Object.fromEntries(
      Object.entries(isRecord(scripts) ? scripts : {}).filter(
        (each): each is [string, string] => typeof each[1] === "string",
      ),
    ),
    dependencies: new Set(
      [value["dependencies"], value["devDependencies"]].flatMap((each) => (isRecord(each) ? Object.keys(each) : [])),
    ),
    manager: typeof packageManager === "string" ? packageManager : null,
    workspaces: Array.isArray(patterns) ? patterns.filter((each) => typeof each === "string") : [],
  };
}
