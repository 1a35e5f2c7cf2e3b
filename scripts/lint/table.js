/**
 * Who may import what, one row per room. It is an allow-list: a room, a library or a Node module that is not named
 * in a row is forbidden to it, and a folder of `src` without a row may import nothing at all.
 *
 * A room may always import from its own folder; `adapters/<x>` are rooms of their own, so they may not import each
 * other, but for those named in `ROOMS_OF_ADAPTERS`. `node` says whether Node's own modules are open to the room; `node:child_process` is open to one room only.
 *
 * @typedef {object} Row
 * @property {readonly string[]} rooms
 * @property {readonly string[]} libraries
 * @property {boolean} node
 */

/** The core: rooms that decide, read and write. They know no clock, no chance, no environment and no disk. */
const CORE = ["domain", "stdx"];

/** What an adapter may know, whatever it adapts. Its own library is named in `LIBRARIES_OF_ADAPTERS`. */
const ADAPTER_ROOMS = ["ports", "readers", "writers", "schemas", ...CORE, "adapters/process"];

/** What the two ways in may know. Never an adapter: those are handed to them by `main`. */
const FRONT_ROOMS = ["engine", "views", "writers", "readers", "schemas", "config", "ports", ...CORE];

/** @type {Readonly<Record<string, Row>>} */
const TABLE = {
  stdx: { rooms: [], libraries: [], node: false },
  domain: { rooms: ["stdx"], libraries: [], node: false },
  schemas: { rooms: CORE, libraries: ["zod"], node: false },
  policy: { rooms: CORE, libraries: [], node: false },
  writers: { rooms: CORE, libraries: [], node: false },
  views: { rooms: CORE, libraries: [], node: false },
  readers: { rooms: ["schemas", ...CORE], libraries: ["yaml"], node: false },
  ports: { rooms: ["domain"], libraries: [], node: false },
  engine: { rooms: ["ports", "policy", "readers", "writers", ...CORE], libraries: [], node: false },
  config: { rooms: ["schemas", ...CORE], libraries: ["yaml", "zod"], node: true },
  cli: { rooms: FRONT_ROOMS, libraries: ["commander"], node: true },
  server: { rooms: FRONT_ROOMS, libraries: ["hono", "@hono/node-server"], node: true },
  web: { rooms: ["domain", "views"], libraries: ["preact", "@preact/signals"], node: false },
  // The model on loopback stands by itself: whoever rehearses with it loads nothing else.
  testing: { rooms: [], libraries: [], node: true },
  "testing.ts": { rooms: ["testing"], libraries: [], node: false },
  // The package entry: what other tools may use.
  "index.ts": {
    rooms: ["compose", "engine", "policy", "views", "writers", "readers", "schemas", "config", "ports", ...CORE],
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
 * Adapters that do the same as another on other ground. The chain of hashes and the packing of evidence are one thing
 * wherever they are kept.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const ROOMS_OF_ADAPTERS = {
  postgres: ["adapters/journal", "adapters/evidence"],
};

/** Where everything is put together: the program's own file, and the room it shares with the package entry. */
const COMPOSITION = ["main.ts", "compose"];

/** @param {string} room */
export const isComposition = (room) => COMPOSITION.includes(room);

/** The only room that starts other programs, so that each of them can be found and ended. */
export const SPAWNING_ROOM = "adapters/process";
export const SPAWNING_MODULES = ["child_process", "cluster"];

/** The files that hand out what others declare: the package's own entries. */
export const PACKAGE_ENTRIES = ["index.ts", "testing.ts"];

/** Rooms whose files hold types only. */
export const TYPE_ROOMS = ["ports"];

/** @param {string} room @returns {Row | undefined} */
export function rowOf(room) {
  if (room.startsWith("adapters/")) {
    const adapter = room.slice("adapters/".length);
    const libraries = LIBRARIES_OF_ADAPTERS[adapter] ?? [];
    return { rooms: [...ADAPTER_ROOMS, ...(ROOMS_OF_ADAPTERS[adapter] ?? [])], libraries, node: true };
  }
  return Object.hasOwn(TABLE, room) ? TABLE[room] : undefined;
}
