import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const cache = join(process.cwd(), "node_modules/.cache/remand-runners");

/** Installs a package, such as `jest@29`, unless it is there; returns its `node_modules`, or why there is none. */
export function installPackage(spec: string): { readonly modules: string } | { readonly problem: string } {
  const folder = join(cache, spec.replace("@", "-"));
  const modules = join(folder, "node_modules");
  if (existsSync(join(modules, spec.split("@")[0]!, "package.json"))) return { modules };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  const ended = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--silent", spec], {
    cwd: folder,
    encoding: "utf8",
  });
  return ended.status === 0 ? { modules } : { problem: `npm install ${spec}: ${ended.stderr.trim().slice(-200)}` };
}
