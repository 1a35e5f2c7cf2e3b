/** How the dependencies that a lockfile fixes are put in place, and where they then are. */
export interface Installation {
  readonly lockfile: string;
  readonly command: string;
  /** The folder they are installed to, where it is one inside the checkout. */
  readonly folder: string;
}

interface Rule extends Installation {
  readonly language: "javascript" | "python";
  readonly when?: (text: string) => boolean;
}

/**
 * In order of preference: of two lockfiles of one language the rarer tool was chosen on purpose. Cargo and Go fetch
 * what they need when they build, so nothing is to be done for them.
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

/** What is to be installed for these lockfiles (name and text): one installation for each language. */
export function installationsFor(lockfiles: ReadonlyMap<string, string>): readonly Installation[] {
  const chosen = new Map<Rule["language"], Installation>();
  for (const { language, lockfile, command, folder, when } of RULES) {
    const text = lockfiles.get(lockfile);
    if (text === undefined || chosen.has(language) || (when !== undefined && !when(text))) continue;
    chosen.set(language, { lockfile, command, folder });
  }
  return [...chosen.values()];
}
