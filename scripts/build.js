/**
 * Builds `dist` from `src`. Run as a program it is `npm run build`; the tests of the built program call it once
 * before they start.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

export function setup() {
  rmSync(`${root}dist`, { recursive: true, force: true });
  const tsc = spawnSync(
    process.execPath,
    [`${root}node_modules/typescript/bin/tsc`, "-p", `${root}tsconfig.build.json`],
    {
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  if (tsc.status !== 0) throw new Error(`the build failed: tsc ended with ${tsc.status ?? tsc.signal}`);
  chmodSync(`${root}dist/main.js`, 0o755);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    setup();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
