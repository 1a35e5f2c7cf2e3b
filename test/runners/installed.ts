import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const cache = join(process.cwd(), "node_modules/.cache/remand-runners");

/**
 * Installs a package, such as `jest@29`, unless it is there; returns its `node_modules`, or why there is none.
 * It is installed beside and then renamed, so that other processes never use one that is still being installed.
 */
export function installPackage(spec: string): { readonly modules: string } | { readonly problem: string } {
  const folder = join(cache, spec.replace("@", "-"));
  const modules = join(folder, "node_modules");
  const isThere = (): boolean => existsSync(join(modules, spec.split("@")[0]!, "package.json"));
  if (isThere()) return { modules };
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(`${folder}.`);
  try {
    writeFileSync(join(made, "package.json"), '{"private":true}\n');
    const ended = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--silent", spec], {
      cwd: made,
      encoding: "utf8",
    });
    if (ended.status !== 0) return { problem: `npm install ${spec}: ${ended.stderr.trim().slice(-200)}` };
    moveTo(made, folder, isThere);
    return { modules };
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** Another process may have put its own there first: that one is kept. */
function moveTo(made: string, folder: string, isThere: () => boolean): void {
  if (isThere()) return;
  rmSync(folder, { recursive: true, force: true });
  try {
    renameSync(made, folder);
  } catch (problem) {
    if (!isThere()) throw problem;
  }
}
