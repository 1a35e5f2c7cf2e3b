import { matchesAnyGlob } from "../../stdx/glob.ts";

/** Which files of a project say what is right, and how they are run: the base's version of them is what counts. */
export interface PinnedRules {
  /** Patterns of test files, with all that lies in the folders of tests. */
  readonly testPaths: readonly string[];
  /** More files that only tests use. */
  readonly oracle: readonly string[];
  /** Files that look like tests and are part of the product. */
  readonly product: readonly string[];
  /** Files that the check commands themselves run: scripts and makefiles. */
  readonly named: ReadonlySet<string>;
}

/**
 * How a path is pinned: the `whole` file is the base's; a manifest is `merged` (the base's runner settings, the work's
 * dependencies); in a source file that can hold tests the tests are `spliced` from the base; the rest is `product`.
 */
export type Pinning = "whole" | "merged" | "spliced" | "product";

export function pinningOf(path: string, { testPaths, oracle, product, named }: PinnedRules): Pinning {
  if (matchesAnyGlob(path, product)) return "product";
  if (MANIFESTS.has(path.slice(path.lastIndexOf("/") + 1))) return "merged";
  if (named.has(path) || matchesAnyGlob(path, [...testPaths, ...oracle, ...SNAPSHOTS, ...CHECK_FILES])) return "whole";
  if (matchesAnyGlob(path, CONFIG_FILES) && !SOURCE_FOLDER.test(path)) return "whole";
  return INLINE_TESTS.test(path) ? "spliced" : "product";
}

/** Manifests that hold runner settings beside dependencies. */
const MANIFESTS: ReadonlySet<string> = new Set(["package.json", "pyproject.toml", "setup.cfg", "Cargo.toml", "go.mod"]);

const SNAPSHOTS = ["**/*.snap", "**/*.ambr", "**/__snapshots__/**"];

/** Recorded output that tests compare with: a test, wherever it lies. */
export const isSnapshot = (path: string): boolean => matchesAnyGlob(path, SNAPSHOTS);

/** Files that runners load by convention, wherever they lie. */
const CHECK_FILES = [
  "**/{conftest,noxfile,sitecustomize,usercustomize}.py",
  "**/*.pth",
  "**/*.{dist-info,egg-info}/**",
  "**/go.work{,.sum}",
  "**/testdata/**",
  "**/.cargo/config*",
  "**/{vitest,jest}.setup.*",
];

/** How runners, compilers and linters name their settings. Below a folder of sources the same names mean the product. */
const CONFIG_FILES = [
  "**/*.{config,conf}.*",
  "**/.*rc{,.*}",
  "**/*.{ini,cfg}",
  "**/{tsconfig*,biome,deno}.json{,c}",
  "**/{,.}{ruff,clippy}.toml",
  "**/.{eslint,oxlint,stylelint,prettier}ignore",
  "**/{pytest.toml,.pytest.toml,nextest.toml,phpunit.xml,phpunit.xml.dist,vitest.workspace.*,vitest.projects.*}",
];

const SOURCE_FOLDER = /(?:^|\/)(?:src|lib|app|source|internal|public)\//;

/** Languages whose tests may stand in the files that they test. */
const INLINE_TESTS = /\.(?:rs|py|[cm]?[jt]sx?|vue|svelte)$/;
