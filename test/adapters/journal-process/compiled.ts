import { spawnSync } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/**
 * Compiles a program of these tests and its imports, to run it in a separate process. The output is below the project's
 * folder, where its libraries are found.
 */
export function compileModule(source: URL): { readonly program: string; remove(): void } {
  mkdirSync(join(ROOT, ".build"), { recursive: true });
  const out = mkdtempSync(join(ROOT, ".build", "journal-"));
  const path = fileURLToPath(source);
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const options =
    "--module nodenext --target es2023 --types node --skipLibCheck --noCheck --allowImportingTsExtensions";
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      tsc,
      ...options.split(" "),
      "--rewriteRelativeImportExtensions",
      "--rootDir",
      ROOT,
      "--outDir",
      out,
      "--ignoreConfig",
      path,
    ],
    { cwd: ROOT, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`${path} does not compile: ${stdout}`);
  return {
    program: join(out, relative(ROOT, path).replace(/\.ts$/, ".js")),
    remove: () => rmSync(out, { recursive: true, force: true }),
  };
}
