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

/**
 * Built beside `dist` and put over it file by file, so that a program that starts at that moment finds every file:
 * tests run the built program while the README's command builds it.
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
      // The dashboard's pages, beside the program that serves them.
      runs(vite, "build", `${root}web`, "--outDir", `${fresh}/web`, "--emptyOutDir", "--logLevel", "warn"),
    ];
    await includeZod(fresh);
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
 * Puts the parts of zod that are used beside the files that use them. The package's own entry imports all of its
 * locales: 60 more files at every start, and more open files than some machines allow.
 *
 * @param {string} folder
 */
async function includeZod(folder) {
  const modules = filesIn(folder).filter((path) => path.endsWith(".js") && !path.startsWith("web/"));
  const bundle = await rolldown({
    input: Object.fromEntries(modules.map((path) => [path.slice(0, -".js".length), `${folder}/${path}`])),
    platform: "node",
    external: (id) => !id.startsWith(".") && !id.startsWith("/") && !/^zod(?:\/|$)/.test(id),
    // Modules stay as they are: whether an import is lazy is decided at run time.
    checks: { ineffectiveDynamicImport: false },
    experimental: { attachDebugInfo: "none" },
    treeshake: { moduleSideEffects: (id) => !id.includes("/node_modules/zod/") },
  });
  await bundle.write({
    dir: folder,
    format: "esm",
    preserveModules: true,
    preserveModulesRoot: folder,
    // A folder called node_modules is left out of a package.
    entryFileNames: ({ name }) =>
      `${name.replace(/^(?:.*\/)?node_modules\//, "vendor/").replace(/^_virtual/, "vendor/_virtual")}.js`,
  });
  copyFileSync(`${root}node_modules/zod/LICENSE`, `${folder}/vendor/zod/LICENSE`);
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

/** Code with a type error is still emitted, and testing it says more than not testing at all: the build has its own check. */
export async function setup() {
  if ((await build()) !== 0 && !existsSync(main))
    throw new Error("nothing was built, so the built program cannot be tested");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await build();
