/**
 * Builds `dist` from `src` and `web`. Run as a program it is `npm run build`; the tests of the built program call `setup` once
 * before they start.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = `${root}dist`;
const main = `${dist}/main.js`;

/** Files that people, other packages, this program and its tests start or import by path. */
const STARTED = [
  "main",
  "index",
  "testing",
  "adapters/process/supervisor",
  "adapters/process/agent-processes",
  "agents/claude/claude-agent",
  "agents/codex/codex-agent",
  "agents/command/command-agent",
  "compose/agents/client-agents",
];

/**
 * Builds next to `dist` and then replaces it file by file, so that a program that starts at that moment finds every
 * file: tests run the built program while the README's command builds it.
 *
 * @returns {Promise<number>} the first exit code that is not 0
 */
async function build() {
  const fresh = mkdtempSync(`${root}.build-`);
  try {
    const tsc = `${root}node_modules/typescript/bin/tsc`;
    const vite = `${root}node_modules/vite/bin/vite.js`;
    const codes = [
      runs(tsc, "-p", `${root}tsconfig.build.json`, "--outDir", fresh),
      runs(tsc, "-p", `${root}web`),
      // The dashboard's pages, next to the program that serves them.
      runs(vite, "build", `${root}web`, "--outDir", `${fresh}/web`, "--emptyOutDir", "--logLevel", "warn"),
    ];
    await joinModules(fresh);
    const files = filesIn(fresh);
    for (const path of files) {
      mkdirSync(dirname(`${dist}/${path}`), { recursive: true });
      if (path === "main.js") chmodSync(`${fresh}/${path}`, 0o755);
      renameSync(`${fresh}/${path}`, `${dist}/${path}`);
    }
    const stale = existsSync(dist) ? filesIn(dist).filter((path) => !files.includes(path)) : [];
    for (const path of stale) rmSync(`${dist}/${path}`);
    return codes.find((code) => code !== 0) ?? 0;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/**
 * Bundles the program's modules, and the used parts of zod, into few files: Node takes a quarter of a millisecond per
 * loaded file, and some machines allow few open files. Modules that are loaded on demand keep their path and stay
 * separate; so do programs that are started by path.
 *
 * @param {string} folder
 */
async function joinModules(folder) {
  const bundle = await rolldown({
    input: Object.fromEntries(STARTED.map((name) => [name, `${folder}/${name}.js`])),
    platform: "node",
    external: (id) => !id.startsWith(".") && !id.startsWith("/") && !/^zod(?:\/|$)/.test(id),
    // The program may load a module on demand even if the library imports it statically.
    checks: { ineffectiveDynamicImport: false },
    treeshake: { moduleSideEffects: (id) => !id.includes("/node_modules/zod/") },
    plugins: [ownAddresses(folder)],
  });
  const pathOf = (/** @type {string | null} */ id) => relative(folder, id ?? "");
  const modules = filesIn(folder).filter((path) => path.endsWith(".js") && !path.startsWith("web/"));
  const { output } = await bundle.write({
    dir: folder,
    format: "esm",
    chunkFileNames: ({ isDynamicEntry, facadeModuleId, name }) =>
      isDynamicEntry && facadeModuleId?.startsWith(folder) === true ? pathOf(facadeModuleId) : `shared/${name}.js`,
  });
  const joined = new Set(output.map(({ fileName }) => fileName));
  for (const path of modules) if (!joined.has(path)) rmSync(`${folder}/${path}`);
  copyFileSync(`${root}node_modules/zod/LICENSE`, `${folder}/shared/zod.LICENSE`);
}

/**
 * Gives a module that uses its own address, to find a file next to it, the address that it had before bundling.
 *
 * @param {string} folder
 * @returns {import("rolldown").Plugin}
 */
function ownAddresses(folder) {
  const marked = /\bADDRESS_OF\("([^"]+)"\)/g;
  return {
    name: "own-addresses",
    transform: (code, id) =>
      id.startsWith(folder) ? code.replaceAll("import.meta.url", `ADDRESS_OF("${relative(folder, id)}")`) : null,
    renderChunk: (code, { fileName }) =>
      code.replace(marked, (_, path) => {
        const from = relative(dirname(`${folder}/${fileName}`), `${folder}/${path}`);
        return `new URL(${JSON.stringify(from.startsWith(".") ? from : `./${from}`)}, import.meta.url).href`;
      }),
  };
}

/** @param {string} program @param {readonly string[]} args */
function runs(program, ...args) {
  const { status } = spawnSync(process.execPath, [program, ...args], { stdio: ["ignore", "inherit", "inherit"] });
  return status ?? 1;
}

/** @param {string} folder @returns {string[]} */
function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, `${entry.parentPath}/${entry.name}`));
}

/**
 * Builds before the tests of the built program. Code with a type error is still emitted and tested, which says more
 * than no test: types have a check of their own.
 */
export async function setup() {
  if ((await build()) !== 0 && !existsSync(main))
    throw new Error("nothing was built, so the built program cannot be tested");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await build();
