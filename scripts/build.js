/**
 * Builds `dist` from `src`. Run as a program it is `npm run build`; the tests of the built program call `setup` once
 * before they start.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const main = `${root}dist/main.js`;

/** @returns {number} tsc's exit code */
function build() {
  rmSync(`${root}dist`, { recursive: true, force: true });
  const tsc = [`${root}node_modules/typescript/bin/tsc`, "-p", `${root}tsconfig.build.json`];
  const { status } = spawnSync(process.execPath, tsc, { stdio: ["ignore", "inherit", "inherit"] });
  if (existsSync(main)) chmodSync(main, 0o755);
  return status ?? 1;
}

/** Code with a type error is still emitted, and testing it says more than not testing at all: the build has its own check. */
export function setup() {
  if (build() !== 0 && !existsSync(main)) throw new Error("nothing was built, so the built program cannot be tested");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = build();
