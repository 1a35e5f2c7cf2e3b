/**
 * A border that cannot be seen to fail is no border. Here violations are planted in a project outside the repository,
 * one per layer and per ban; the real lint runs over it, and must report each of them and nothing else.
 *
 * The table of layers is written down again, in the words of the design, so that a change of `scripts/lint/table.js`
 * alone changes nothing unnoticed.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rowOf } from "../scripts/lint/table.js";
import { plantProject, LAYERS, type Lint, type PlantedProject } from "./tidy/planted-project.ts";

const CORE = ["stdx", "core", "core/schemas", "decide", "fold", "parse", "write", "views", "engine", "config"];
const FRONT = ["engine", "views", "write", "parse", "core/schemas", "config", "ports", "core", "stdx"];
const ADAPTER = ["ports", "parse", "write", "core/schemas", "core", "stdx", "adapters/process"];

const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  stdx: [],
  core: ["stdx", "core/schemas"],
  "core/schemas": ["core", "stdx"],
  decide: ["fold", "core", "stdx"],
  fold: ["decide", "core", "stdx"],
  write: ["core", "stdx"],
  views: ["core", "stdx"],
  parse: ["core", "core/schemas", "stdx"],
  ports: ["core"],
  engine: ["ports", "decide", "fold", "parse", "write", "core", "stdx"],
  config: ["core/schemas", "core", "stdx"],
  app: FRONT,
  cli: ["app", ...FRONT],
  gates: ADAPTER,
  agents: ADAPTER,
  server: FRONT,
  testing: [],
  "adapters/process": ADAPTER,
  "adapters/git": ADAPTER,
  "adapters/files": ADAPTER,
  "adapters/journal": ADAPTER,
  "adapters/postgres": [...ADAPTER, "adapters/journal"],
  "adapters/telemetry": ADAPTER,
};
const LIBRARIES = [
  "zod",
  "yaml",
  "jsonc-parser",
  "commander",
  "left-pad",
  "@photostructure/sqlite",
  "pg",
  "hono",
  "@hono/node-server",
  "preact",
  "@opentelemetry/api",
];
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  "core/schemas": ["zod"],
  write: ["jsonc-parser", "yaml"],
  parse: ["yaml"],
  config: ["yaml", "zod"],
  app: ["commander"],
  cli: ["commander"],
  server: ["hono", "@hono/node-server"],
  "adapters/journal": ["@photostructure/sqlite"],
  "adapters/postgres": ["pg"],
  "adapters/telemetry": ["@opentelemetry/api"],
};
const MAY_USE_NODE = [
  "config",
  "app",
  "cli",
  "gates",
  "agents",
  "server",
  "testing",
  "adapters/process",
  "adapters/git",
  "adapters/files",
  "adapters/journal",
  "adapters/postgres",
  "adapters/telemetry",
];

interface Plant {
  readonly title: string;
  readonly path: string;
  readonly text: string;
  /** The rule that must fire on it, or `null` where the plant is allowed. */
  readonly rule: string | null;
}

const slug = (text: string): string => text.replaceAll(/[^a-z0-9]+/gi, "-");
const up = (path: string): string => "../".repeat(path.split("/").length - 1);

function borderPlant(layer: string, to: string, specifier: string, allowed: boolean): Plant {
  return {
    title: `${layer} ${allowed ? "may" : "may not"} import ${to}`,
    path: `src/${layer}/to-${slug(to)}.ts`,
    text: `import type { Thing } from "${specifier}";\n\nexport type Planted = Thing;\n`,
    rule: allowed ? null : "remand(borders)",
  };
}

function plantsOf(layer: string): readonly Plant[] {
  const toSrc = up(`src/${layer}/x.ts`).slice("../".length);
  const layers = LAYERS.filter((to) => to !== layer);
  return [
    borderPlant(layer, "itself", "./thing.ts", true),
    ...layers.map((to) => borderPlant(layer, to, `${toSrc}${to}/thing.ts`, MAY_IMPORT[layer]!.includes(to))),
    borderPlant(layer, "a layer without a row", `${toSrc}attic/thing.ts`, false),
    borderPlant(layer, "main", `${toSrc}main.ts`, false),
    borderPlant(layer, "the package entry", `${toSrc}index.ts`, false),
    borderPlant(layer, "a test", `${toSrc}../test/thing.ts`, false),
    ...LIBRARIES.map((library) => borderPlant(layer, library, library, MAY_USE[layer]?.includes(library) ?? false)),
    borderPlant(layer, "node:path", "node:path", MAY_USE_NODE.includes(layer)),
    borderPlant(layer, "fs without its prefix", "fs", MAY_USE_NODE.includes(layer)),
    borderPlant(layer, "node:child_process", "node:child_process", layer === "adapters/process"),
  ];
}

const otherBorders: readonly Plant[] = [
  { ...borderPlant("attic", "stdx", "../stdx/thing.ts", false), title: "a layer without a row may import nothing" },
  borderPlant("stdx", "node:crypto", "node:crypto", true),
  borderPlant("stdx", "node:fs", "node:fs", false),
  borderPlant("core", "node:crypto", "node:crypto", false),
  borderPlant("core", "decide, by a detour", "../core/../decide/thing.ts", false),
  {
    title: "core may not import values from core/schemas",
    path: "src/core/value-of-schema.ts",
    text: 'import { thing } from "./schemas/thing.ts";\n\nexport const planted = thing;\n',
    rule: "remand(borders)",
  },
  borderPlant("parse/signals", "the layer above", "../thing.ts", true),
  borderPlant("parse/signals", "core", "../../core/thing.ts", true),
  borderPlant("parse/signals", "decide", "../../decide/thing.ts", false),
  {
    title: "main may import an adapter and a library",
    path: "src/main.ts",
    text: 'import type { Thing } from "./adapters/git/thing.ts";\nimport type { Other } from "left-pad";\n\nexport type Planted = [Thing, Other];\n',
    rule: null,
  },
  {
    title: "the package entry may not hand out an adapter",
    path: "src/index.ts",
    text: 'export type { Thing } from "./adapters/git/thing.ts";\n',
    rule: "remand(borders)",
  },
  {
    title: "the entry for rehearsals hands out what is for them",
    path: "src/testing.ts",
    text: 'export type { Thing } from "./testing/thing.ts";\n',
    rule: null,
  },
  {
    title: "web may import core",
    path: "web/src/to-core.ts",
    text: 'import type { Thing } from "../../src/core/thing.ts";\n\nexport type Planted = Thing;\n',
    rule: null,
  },
  {
    title: "web may not import schemas",
    path: "web/src/to-schemas.ts",
    text: 'import type { Thing } from "../../src/core/schemas/thing.ts";\n\nexport type Planted = Thing;\n',
    rule: "remand(borders)",
  },
  ...["preact", "@preact/signals"].map((library) => ({
    title: `web may import ${library}`,
    path: `web/src/to-${slug(library)}.ts`,
    text: `import type { Thing } from "${library}";\n\nexport type Planted = Thing;\n`,
    rule: null,
  })),
  {
    title: "web may not import a server's library",
    path: "web/src/to-hono.ts",
    text: 'import type { Thing } from "hono";\n\nexport type Planted = Thing;\n',
    rule: "remand(borders)",
  },
  {
    title: "a border holds for import()",
    path: "src/core/dynamic.ts",
    text: 'export const getThing = (): Promise<unknown> => import("../decide/thing.ts");\n',
    rule: "remand(borders)",
  },
  {
    title: "a border holds for import types",
    path: "src/core/import-type.ts",
    text: '// oxlint-disable-next-line typescript/consistent-type-imports\nexport type Planted = import("../decide/thing.ts").Thing;\n',
    rule: "remand(borders)",
  },
  {
    title: "an import whose target cannot be read is refused",
    path: "src/cli/unreadable.ts",
    text: "export const getThing = (name: string): Promise<unknown> => import(name);\n",
    rule: "remand(borders)",
  },
];

const CORE_BANS: readonly (readonly [name: string, text: string, rule: string])[] = [
  ["the current time", "export const getThing = (): number => Date.now();", "eslint(no-restricted-properties)"],
  ["the current date", "export const getThing = (): Date => new Date();", "remand(no-clock)"],
  ["the current date as text", "export const getThing = (): string => Date();", "remand(no-clock)"],
  ["chance", "export const getThing = (): number => Math.random();", "eslint(no-restricted-properties)"],
  ["the environment", 'export const getThing = (): unknown => process.env["HOME"];', "eslint(no-restricted-globals)"],
  ["a timer", "export const getThing = (): unknown => setTimeout(() => 0, 1);", "eslint(no-restricted-globals)"],
  ["work on import", 'export const planted: string[] = [];\nplanted.push("x");', "remand(no-top-level-effect)"],
  [
    "state on import",
    "export let planted = 0;\nexport const count = (): number => planted++;",
    "remand(no-top-level-effect)",
  ],
];

function bansOf(layer: string): readonly Plant[] {
  return CORE_BANS.map(([name, text, rule]) => ({
    title: `${layer} knows nothing of ${name}`,
    path: `src/${layer}/ban-${slug(name)}.ts`,
    text: `${text}\n`,
    rule,
  }));
}

const long = (lines: number): string => Array.from({ length: lines }, (_, i) => `  out.push(${i});`).join("\n");

const everywhereBans: readonly Plant[] = [
  {
    title: "a port holds types only",
    path: "src/ports/code.ts",
    text: "export const planted = 1;\n",
    rule: "remand(types-only)",
  },
  {
    title: "the core may declare a function in several forms",
    path: "src/decide/overloaded.ts",
    text: "export function getThing(x: string): string;\nexport function getThing(x: number): number;\nexport function getThing(x: string | number): string | number {\n  return x;\n}\n",
    rule: null,
  },
  {
    title: "no barrels",
    path: "src/decide/gathered.ts",
    text: 'export type { Thing } from "./thing.ts";\n',
    rule: "remand(no-barrel)",
  },
  {
    title: "no barrels by star",
    path: "src/decide/all.ts",
    text: 'export * from "./thing.ts";\n',
    rule: "remand(no-barrel)",
  },
  {
    title: "no index but the entry",
    path: "src/decide/index.ts",
    text: "export const planted = 1;\n",
    rule: "remand(names)",
  },
  ...["utils", "helpers", "common", "lib", "managers"].flatMap((name) => [
    {
      title: `no file called ${name}`,
      path: `src/cli/${name}.ts`,
      text: "export const planted = 1;\n",
      rule: "remand(names)",
    },
    {
      title: `no folder called ${name}`,
      path: `src/cli/${name}/x.ts`,
      text: "export const planted = 1;\n",
      rule: "remand(names)",
    },
  ]),
  {
    title: "no circle, not even of types",
    path: "src/decide/circle-a.ts",
    text: 'import type { B } from "./circle-b.ts";\n\nexport type A = B[];\n',
    rule: "import(no-cycle)",
  },
  {
    title: "no circle, seen from the other side",
    path: "src/decide/circle-b.ts",
    text: 'import type { A } from "./circle-a.ts";\n\nexport type B = A[];\n',
    rule: "import(no-cycle)",
  },
  {
    title: "no default export",
    path: "src/cli/default.ts",
    text: "export default function planted(): void {}\n",
    rule: "import(no-default-export)",
  },
  {
    title: "no any",
    path: "src/cli/any.ts",
    text: "export const getThing = (x: any): unknown => x;\n",
    rule: "typescript(no-explicit-any)",
  },
  {
    title: "no promise left alone",
    path: "src/cli/floating.ts",
    text: "export function getThing(work: () => Promise<void>): void {\n  work();\n}\n",
    rule: "typescript(no-floating-promises)",
  },
  {
    title: "no member of a union forgotten",
    path: "src/cli/forgotten.ts",
    text: 'export function getThing(x: "a" | "b"): void {\n  switch (x) {\n    case "a":\n      return;\n  }\n}\n',
    rule: "typescript(switch-exhaustiveness-check)",
  },
  {
    title: "no note to do it later",
    path: "src/cli/later.ts",
    text: "// TODO: later\nexport const planted = 1;\n",
    rule: "eslint(no-warning-comments)",
  },
  {
    title: "no printing past the world",
    path: "src/cli/print.ts",
    text: 'console.log("x");\n',
    rule: "eslint(no-console)",
  },
  {
    title: "no function over 60 lines",
    path: "src/cli/long-function.ts",
    text: `export function getThing(out: number[]): void {\n${long(59)}\n}\n`,
    rule: "eslint(max-lines-per-function)",
  },
  {
    title: "60 lines are not too many",
    path: "src/cli/just-long-enough.ts",
    text: `export function getThing(out: number[]): void {\n${long(58)}\n}\n`,
    rule: null,
  },
  {
    title: "no file over 300 lines",
    path: "src/cli/long-file.ts",
    text: Array.from({ length: 301 }, (_, i) => `export const planted${i} = ${i};\n`).join(""),
    rule: "eslint(max-lines)",
  },
  {
    title: "no silenced rule that would not fire",
    path: "src/cli/silenced.ts",
    text: "// oxlint-disable-next-line no-console\nexport const planted = 1;\n",
    rule: "Unused oxlint-disable directive (no problems were reported).",
  },
];

/** Written in two parts, because the lint reads this file, too. */
const REPLACED = ["me", "nds"].join("");

const wordPlants: readonly Plant[] = [
  {
    title: "no pronoun in a comment",
    path: "src/cli/pronoun-comment.ts",
    text: "// Nobody reads it.\nexport const planted = 1;\n",
    rule: "remand(words)",
  },
  {
    title: "no pronoun in a comment of a test",
    path: "test/pronoun-comment.ts",
    text: "/** Whoever calls it waits. */\nexport const planted = 1;\n",
    rule: "remand(words)",
  },
  {
    title: "no pronoun in a message",
    path: "src/cli/pronoun-string.ts",
    text: 'export const planted = "somebody else runs it";\n',
    rule: "remand(words)",
  },
  {
    title: "a test may have a pronoun in a string",
    path: "test/pronoun-string.ts",
    text: 'export const planted = "somebody else runs it";\n',
    rule: null,
  },
  {
    title: "no replaced word in a message",
    path: "src/cli/replaced-string.ts",
    text: `export const planted = "the agent ${REPLACED} it";\n`,
    rule: "remand(words)",
  },
  {
    title: "no replaced word in a template",
    path: "src/cli/replaced-template.ts",
    text: `export const getThing = (name: string): string => \`\${name} ${REPLACED} it\`;\n`,
    rule: "remand(words)",
  },
  {
    title: "no replaced word in a string of a test",
    path: "test/replaced-string.ts",
    text: `export const planted = "the agent ${REPLACED} it";\n`,
    rule: "remand(words)",
  },
  {
    title: "no exported function named by a lone participle",
    path: "src/cli/participle.ts",
    text: "export function told(x: number): number {\n  return x;\n}\n",
    rule: "remand(words)",
  },
  {
    title: "no exported arrow function named by a lone participle",
    path: "src/cli/participle-arrow.ts",
    text: "export const shortened = (x: string): string => x.slice(1);\n",
    rule: "remand(words)",
  },
  {
    title: "a function that is not exported may be named by a lone participle",
    path: "src/cli/private-participle.ts",
    text: "const told = (x: number): number => x;\n\nexport const getThing = (): number => told(1);\n",
    rule: null,
  },
  {
    title: "an exported value, and a function with a verb and an object, may have a participle in the name",
    path: "src/cli/other-participles.ts",
    text: "export const expected = 1;\nexport const countFailed = (x: number): number => x;\n",
    rule: null,
  },
];

const GROUPS: readonly { readonly name: string; readonly plants: readonly Plant[] }[] = [
  ...LAYERS.map((layer) => ({ name: `the borders of ${layer}`, plants: plantsOf(layer) })),
  ...CORE.map((layer) => ({ name: `what ${layer} knows nothing of`, plants: bansOf(layer) })),
  ...[...otherBorders, ...everywhereBans, ...wordPlants].map((plant) => ({ name: plant.title, plants: [plant] })),
];
const PLANTS = GROUPS.flatMap(({ plants }) => plants);

describe("the project's lint rules", () => {
  let project: PlantedProject;
  let before: Lint;
  let after: Lint;

  beforeAll(() => {
    project = plantProject();
    before = project.lint();
    for (const { path, text } of PLANTS) project.plant(path, text);
    after = project.lint();
  });
  afterAll(() => project.tearDown());

  test("passes over a tidy project", () => {
    expect(before.output).not.toContain('"severity"');
    expect(before.exit).toBe(0);
  });

  test("fails over a project with violations", () => {
    expect(after.exit).not.toBe(0);
  });

  test("plants each violation in a file of its own", () => {
    expect(new Set(PLANTS.map(({ path }) => path)).size).toBe(PLANTS.length);
  });

  test.each(GROUPS)("$name", ({ plants }) => {
    const expected = plants.map(({ title, rule }) => `${title}: ${rule ?? "silent"}`);
    const seen = plants.map(({ title, path }) => `${title}: ${after.fired.get(path)?.join(", ") ?? "silent"}`);
    expect(seen).toEqual(expected);
  });
});

describe("the repository", () => {
  test("names no registry in its lock file", () => {
    const lock = readFileSync(new URL("../package-lock.json", import.meta.url), "utf8");
    expect(lock).toContain('"integrity"');
    expect(lock).not.toContain('"resolved"');
    expect(lock).not.toContain("://registry");
  });

  test("has a lock file that installs on every platform", () => {
    // npm leaves out what the registry at hand does not have, says nothing, and `npm ci` then fails.
    const { packages } = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8")) as {
      packages: Record<string, { optionalDependencies?: Record<string, string>; integrity?: string }>;
    };
    const wanted = Object.values(packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}));
    expect(wanted.filter((name) => packages[`node_modules/${name}`]?.integrity === undefined)).toEqual([]);
    expect(wanted.length).toBeGreaterThan(20);
  });

  test("has a row in the lint's table for every layer the design names", () => {
    for (const layer of LAYERS) expect(rowOf(layer), layer).toBeDefined();
  });
});
