/**
 * Which layer may import what, one row per layer. It is an allow-list: a layer, a library or a Node module that a row
 * does not name is forbidden to it, and a folder of `src` without a row may import nothing at all.
 *
 * A layer may always import from its own folder; `adapters/<x>` are layers of their own, so they may not import each
 * other, except those named in `LAYERS_OF_ADAPTERS`. `node` says whether the layer may import Node's own modules,
 * or names the few that it may; `node:child_process` is open to one layer only.
 *
 * @typedef {object} Row
 * @property {readonly string[]} layers
 * @property {readonly string[]} [types] Layers of which it may import types, and no values.
 * @property {readonly string[]} libraries
 * @property {boolean | readonly string[]} node
 */

/** The layers that every other layer may import. They use no clock, randomness, environment or disk. */
const CORE = ["core", "stdx"];

/** The layers that every adapter may import. Its own library is in `LIBRARIES_OF_ADAPTERS`. */
const ADAPTER_LAYERS = ["ports", "parse", "write", "core/schemas", ...CORE, "adapters/process"];

/** The layers that use cases and entry points may import. Never an adapter: `compose` passes those in. */
const FRONT_LAYERS = ["engine", "views", "write", "parse", "core/schemas", "config", "ports", ...CORE];

/** @type {Readonly<Record<string, Row>>} */
const TABLE = {
  stdx: { layers: [], libraries: [], node: ["crypto"] },
  // Types of stored values are inferred from schemas. Importing a schema's value would load zod at every start.
  core: { layers: ["stdx"], types: ["core/schemas"], libraries: [], node: false },
  "core/schemas": { layers: CORE, libraries: ["zod"], node: false },
  decide: { layers: ["fold", ...CORE], libraries: [], node: false },
  fold: { layers: ["decide", ...CORE], libraries: [], node: false },
  write: { layers: CORE, libraries: ["jsonc-parser", "yaml"], node: false },
  views: { layers: CORE, libraries: [], node: false },
  parse: { layers: ["core/schemas", ...CORE], libraries: ["yaml"], node: false },
  ports: { layers: ["core"], libraries: [], node: false },
  engine: { layers: ["ports", "decide", "fold", "parse", "write", ...CORE], libraries: [], node: false },
  config: { layers: ["core/schemas", ...CORE], libraries: ["yaml", "zod"], node: true },
  gates: { layers: ADAPTER_LAYERS, libraries: [], node: true },
  agents: { layers: ADAPTER_LAYERS, libraries: [], node: true },
  app: { layers: FRONT_LAYERS, libraries: ["commander"], node: true },
  cli: { layers: ["app", ...FRONT_LAYERS], libraries: ["commander"], node: true },
  server: { layers: FRONT_LAYERS, libraries: ["hono", "@hono/node-server"], node: true },
  web: { layers: ["core", "stdx", "views"], libraries: ["preact", "@preact/signals"], node: false },
  // The loopback model loads no other part of the package.
  testing: { layers: [], libraries: [], node: true },
  "testing.ts": { layers: ["testing"], libraries: [], node: false },
  // The package entry: the API for other tools.
  "index.ts": {
    layers: ["compose", "app", "decide", "fold", ...FRONT_LAYERS],
    libraries: [],
    node: false,
  },
};

/** @type {Readonly<Record<string, readonly string[]>>} */
const LIBRARIES_OF_ADAPTERS = {
  journal: ["@photostructure/sqlite"],
  postgres: ["pg"],
  queue: ["@dbos-inc/dbos-sdk", "pg"],
  telemetry: ["@opentelemetry/api"],
};

/**
 * Adapters that share code: the chain of hashes and the packing of evidence are the same in both databases.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const LAYERS_OF_ADAPTERS = {
  postgres: ["adapters/journal", "adapters/evidence"],
};

/**
 * Where adapters are chosen and passed to the rest: the program's own file, and the layer that the package entry uses.
 */
const COMPOSITION = ["main.ts", "compose"];

/** @param {string} layer */
export const isComposition = (layer) => COMPOSITION.includes(layer);

/** The only layer that starts other programs, so that all of them can be found and ended. */
export const SPAWNING_LAYER = "adapters/process";
export const SPAWNING_MODULES = ["child_process", "cluster"];

/** The files that may export names of other files: the package's entries. */
export const PACKAGE_ENTRIES = ["index.ts", "testing.ts"];

/** Layers whose files hold types only. */
export const TYPE_LAYERS = ["ports"];

/** @param {string} layer @returns {Row | undefined} */
export function rowOf(layer) {
  if (layer.startsWith("adapters/")) {
    const adapter = layer.slice("adapters/".length);
    const libraries = LIBRARIES_OF_ADAPTERS[adapter] ?? [];
    return { layers: [...ADAPTER_LAYERS, ...(LAYERS_OF_ADAPTERS[adapter] ?? [])], libraries, node: true };
  }
  return Object.hasOwn(TABLE, layer) ? TABLE[layer] : undefined;
}
