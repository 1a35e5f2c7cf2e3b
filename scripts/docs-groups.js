/** The groups of the documentation's menu, with their pages in order. A path that ends with `/` is a whole folder. */
const guide = (/** @type {readonly string[]} */ ...names) => names.map((name) => `docs/guide/${name}.md`);

/** @type {readonly (readonly [name: string, pages: readonly string[]])[]} */
export const GROUPS = [
  ["Start", ["README.md", ...guide("README", "loop", "stories", "recipes", "troubleshooting", "compare")]],
  ["Set up", guide("config", "config-keys", "agents", "inside-an-agent", "checks", "sandbox", "rehearse")],
  ["Work", guide("phases", "answers", "dashboard", "terminal", "notifications", "delivery", "trail", "receipts")],
  [
    "Gates",
    guide("gate", "integrity", "integrity-rules", "verification", "test-names", "hidden-checks", "review", "blame"),
  ],
  ["Many machines", [...guide("fleet", "telemetry"), "deploy/README.md", "docs/scale.md"]],
  ["For programs", guide("library", "parse-and-brief")],
  ["Facts", ["docs/security.md", "docs/benchmarks.md", "docs/mutation.md", "docs/sources.md", "docs/guide/sources/"]],
  ["Contribute", ["ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md", "CHANGELOG.md"]],
  ["Decisions", ["docs/adr/"]],
];

/**
 * The pages of a group, in its order.
 *
 * @template {{ readonly source: string }} P
 * @param {readonly P[]} pages @param {readonly string[]} listed
 * @returns {readonly P[]}
 */
export const pagesOf = (pages, listed) =>
  listed.flatMap((path) =>
    pages.filter(({ source }) => source === path || (path.endsWith("/") && source.startsWith(path))),
  );
