import { isRecord } from "../../stdx/assert.ts";

/**
 * Merges a manifest: scripts and runner settings from the base, because they decide what a check runs; dependencies and
 * the rest from the work. `null` if one version cannot be read: then the work's version is kept.
 */
export function mergeManifest(path: string, base: string, work: string): string | null {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name === "package.json") return mergePackage(base, work);
  if (name === "go.mod") return mergeGoMod(base, work);
  const isPinned = PINNED_SECTIONS[name];
  return isPinned === undefined ? null : mergeSections(base, work, isPinned);
}

/**
 * The keys that npm itself defines, except `scripts`: names, entry points, dependencies. All others belong to tools.
 */
const OF_THE_PRODUCT: ReadonlySet<string> = new Set(
  `name version description keywords homepage bugs license author contributors funding files exports
   main module types typings typesVersions browser bin man directories repository config dependencies
   devDependencies peerDependencies peerDependenciesMeta bundleDependencies bundledDependencies
   optionalDependencies overrides resolutions engines os cpu libc devEngines private publishConfig
   workspaces type imports sideEffects packageManager pnpm dependenciesMeta`.split(/\s+/),
);

function mergePackage(base: string, work: string): string | null {
  const [before, after] = [parseJson(base), parseJson(work)];
  if (before === null || after === null) return null;
  const kept = Object.entries(after).filter(([key]) => OF_THE_PRODUCT.has(key));
  const pinned = Object.entries(before).filter(([key]) => !OF_THE_PRODUCT.has(key));
  const used = DEPENDENCIES.flatMap((group) => {
    const merged = withBaseSources(recordIn(before[group]), recordIn(after[group]));
    return merged === null ? [] : [[group, merged] as const];
  });
  // For names that the base defines, the base decides, because tests import by these names too.
  const imports = { ...recordIn(after["imports"]), ...recordIn(before["imports"]) };
  const mapped = Object.keys(imports).length === 0 ? [] : [["imports", imports] as const];
  return `${JSON.stringify(Object.fromEntries([...kept, ...used, ...mapped, ...pinned]), null, 2)}\n`;
}

const DEPENDENCIES = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/**
 * Restores the sources of the base's packages that the work takes from elsewhere (a folder, an address, another name).
 */
function withBaseSources(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): Record<string, unknown> | null {
  const moved = Object.keys(before).filter(
    (name) => after[name] !== before[name] && typeof after[name] === "string" && /[:/]/.test(after[name]),
  );
  return moved.length === 0 ? null : { ...after, ...Object.fromEntries(moved.map((name) => [name, before[name]])) };
}

/** Whether the work takes a package of the base from another source. */
export function hasMovedPackages(base: string, work: string): boolean {
  const [before, after] = [parseJson(base), parseJson(work)];
  if (before === null || after === null) return false;
  return DEPENDENCIES.some((group) => withBaseSources(recordIn(before[group]), recordIn(after[group])) !== null);
}

const recordIn = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

function parseJson(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** The sections that decide how tests run. */
const PINNED_SECTIONS: Readonly<Record<string, (section: string) => boolean>> = {
  "pyproject.toml": (section) => /^tool\.(?:pytest|coverage|tox|nox|hatch\.envs)\b/.test(section),
  "setup.cfg": (section) => /^(?:tool:pytest|pytest|aliases|coverage:.*|unittest)$/.test(section),
  "Cargo.toml": (section) => /^(?:test|bench|profile\.test|replace|patch\..*)$/.test(section),
};

/** Sections that only tests use: entries of the base stay, and the work may add others. */
const FOR_TESTS = /^(?:target\..*\.)?dev[-_]dependencies(?:\..*)?$/;

interface ManifestSection {
  readonly name: string;
  readonly text: string;
}

/**
 * Returns the work's sections in their order, with the runner's sections from the base, and the sections that only the
 * base has.
 */
function mergeSections(base: string, work: string, isPinned: (section: string) => boolean): string {
  const before = sectionsOf(base);
  const pinned = before.filter(({ name }) => isPinned(name));
  const used = new Map(before.filter(({ name }) => FOR_TESTS.test(name)).map((section) => [section.name, section]));
  const own = sectionsOf(work)
    .filter(({ name }) => !isPinned(name))
    .map((section) => withBaseKeys(section, used.get(section.name)));
  return [...own, ...pinned].map(({ text }) => (text.endsWith("\n") || text === "" ? text : `${text}\n`)).join("");
}

/** Merges a section that the base has too: the base's lines, and the work's lines for other keys. */
function withBaseKeys(section: ManifestSection, base: ManifestSection | undefined): ManifestSection {
  if (base === undefined || base.text === section.text) return section;
  const keyOf = (line: string): string => /^\s*([\w."'-]+)\s*=/.exec(line)?.[1] ?? "";
  const lines = base.text.split(/(?<=\n)/);
  const known = new Set(lines.map(keyOf));
  const isWhole = !/^(?:.*\.)?dev[-_]dependencies$/.test(section.name);
  const added = isWhole
    ? []
    : section.text.split(/(?<=\n)/).filter((line) => keyOf(line) !== "" && !known.has(keyOf(line)));
  return { ...section, text: [base.text.trimEnd(), ...added.map((line) => line.trimEnd()), ""].join("\n") };
}

function sectionsOf(text: string): ManifestSection[] {
  const sections: { name: string; lines: string[] }[] = [{ name: "", lines: [] }];
  for (const line of text.split(/(?<=\n)/)) {
    const name = /^\s*\[\[?\s*([\w.:"' *()-]+?)\s*\]\]?\s*(?:[#;].*)?$/.exec(line)?.[1];
    if (name !== undefined) sections.push({ name: name.replaceAll(/["']/g, ""), lines: [] });
    sections.at(-1)!.lines.push(line);
  }
  return sections.map(({ name, lines }) => ({ name, text: lines.join("") }));
}

/**
 * Returns the work's `go.mod` in which the base's modules have exactly the replacements of the base; those of other
 * modules stay.
 */
function mergeGoMod(base: string, work: string): string {
  const before = replacements(base);
  const known = new Set([...before.keys(), ...requiredModules(base)]);
  const now = [...replacements(work)].filter(([module]) => known.has(module));
  if (now.length === before.size && now.every(([module, by]) => before.get(module) === by)) return work;
  const kept = withoutReplacements(work, known);
  return [kept.trimEnd(), "", ...[...before].map(([module, by]) => `replace ${module} => ${by}`), ""].join("\n");
}

/** Returns the modules of `vendor/modules.txt`, each with its version. */
export function vendoredModules(text: string): ReadonlyMap<string, string> {
  const named = [...text.matchAll(/^# (\S+) (v\S+.*|=> .*)$/gm)];
  return new Map(named.map(([, module = "", version = ""]) => [module, version]));
}

const REPLACEMENT = /^(\s*(?:replace\s+)?)([^\s()]+(?:\s+v\S+)?)\s+=>\s+(\S+(?:\s+v\S+)?)\s*(?:\/\/.*)?$/;

function replacements(text: string): ReadonlyMap<string, string> {
  const found = text.split("\n").map((line) => REPLACEMENT.exec(line));
  return new Map(found.flatMap((match) => (match === null ? [] : [[moduleOf(match[2]!), match[3]!]])));
}

/** Returns the module of a replacement, which may be for one version only. */
const moduleOf = (left: string): string => left.split(/\s/)[0]!;

const requiredModules = (text: string): readonly string[] =>
  [...text.matchAll(/^\s*(?:require\s+)?([^\s()]+)\s+v\d\S*\s*(?:\/\/.*)?$/gm)].map(([, module = ""]) => module);

const withoutReplacements = (text: string, known: ReadonlySet<string>): string =>
  text
    .split("\n")
    .filter((line) => {
      const left = REPLACEMENT.exec(line)?.[2];
      return left === undefined || !known.has(moduleOf(left));
    })
    .join("\n");

/** How to install the dependencies of a lockfile, and where they are then. */
export interface Installation {
  readonly lockfile: string;
  readonly command: string;
  /** The folder that they are installed to, if it is inside the checkout. */
  readonly folder: string;
}

interface Rule extends Installation {
  readonly language: "javascript" | "python";
  readonly when?: (text: string) => boolean;
}

/**
 * In order of preference: of two lockfiles of one language, the one of the rarer tool is there on purpose. Cargo and Go
 * fetch dependencies when they build, so they are not listed.
 */
const RULES: readonly Rule[] = [
  { language: "javascript", lockfile: "bun.lock", command: "bun install --frozen-lockfile", folder: "node_modules" },
  { language: "javascript", lockfile: "bun.lockb", command: "bun install --frozen-lockfile", folder: "node_modules" },
  {
    language: "javascript",
    lockfile: "pnpm-lock.yaml",
    command: "pnpm install --frozen-lockfile",
    folder: "node_modules",
  },
  {
    language: "javascript",
    lockfile: "yarn.lock",
    command: "yarn install --immutable",
    folder: "node_modules",
    when: (text) => /^__metadata:/m.test(text),
  },
  { language: "javascript", lockfile: "yarn.lock", command: "yarn install --frozen-lockfile", folder: "node_modules" },
  { language: "javascript", lockfile: "package-lock.json", command: "npm ci", folder: "node_modules" },
  { language: "javascript", lockfile: "npm-shrinkwrap.json", command: "npm ci", folder: "node_modules" },
  { language: "python", lockfile: "uv.lock", command: "uv sync --frozen", folder: ".venv" },
  { language: "python", lockfile: "poetry.lock", command: "poetry install --no-interaction", folder: ".venv" },
];

export const LOCKFILES: readonly string[] = [...new Set(RULES.map(({ lockfile }) => lockfile))];

/** Chooses the installations for these lockfiles (by name, with their text), one for each language. */
export function installationsFor(lockfiles: ReadonlyMap<string, string>): readonly Installation[] {
  const chosen = new Map<Rule["language"], Installation>();
  for (const { language, lockfile, command, folder, when } of RULES) {
    const text = lockfiles.get(lockfile);
    if (text === undefined || chosen.has(language) || (when !== undefined && !when(text))) continue;
    chosen.set(language, { lockfile, command, folder });
  }
  return [...chosen.values()];
}

/** Returns the scripts of a `package.json` by name; none if it is not valid JSON, which shows when the checks run. */
export function allScripts(text: string | null): Map<string, string> {
  const found = new Map<string, string>();
  try {
    const whole = JSON.parse(text ?? "{}") as { readonly scripts?: Readonly<Record<string, unknown>> } | null;
    for (const [name, script] of Object.entries(whole?.scripts ?? {}))
      if (typeof script === "string") found.set(name, script);
  } catch {
    return found;
  }
  return found;
}

/** Returns the scripts that are named after tests and other checks. */
export const testScripts = (text: string | null): Map<string, string> =>
  new Map([...allScripts(text)].filter(([name]) => TESTS.test(name)));

const TESTS = /^(?:pre|post)?(?:test|check|verify|ci|lint|typecheck|types|coverage)(?:[:._-]|$)/;

/** Conditions that packages for several systems use; they say nothing about tests. */
const COMMON_CONDITIONS: ReadonlySet<string> = new Set(["types", "import", "require", "default", "node", "browser"]);

/**
 * Returns the conditions under which a name of a package.json leads to different code, such as `imports "#add" by
 * "development"`.
 */
export function conditionsIn(text: string | null): readonly string[] {
  const manifest = parseJson(text ?? "") ?? {};
  const within = (value: unknown): readonly string[] =>
    isRecord(value) ? Object.entries(value).flatMap(([key, inner]) => [key, ...within(inner)]) : [];
  return ["imports", "exports"].flatMap((field) =>
    Object.entries(recordIn(manifest[field])).flatMap(([name, value]) =>
      within(/^[#.]/.test(name) ? value : { [name]: value })
        .filter((condition) => !COMMON_CONDITIONS.has(condition))
        .map((condition) => `${field} "${name}" by "${condition}"`),
    ),
  );
}
