import { constants } from "node:fs";
import { cp, lstat, mkdir } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { RemandError } from "../../domain/error.ts";
import { staysInside } from "./escaping-links.ts";

/**
 * Copies ignored files that checks need (`.env.test`) from the user's checkout. A path that is not there is left out;
 * what the checkout has itself is never replaced: those files are the work.
 */
export async function carryFiles(main: string, checkout: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const inside = normalize(path).replace(/\/$/, "");
    if (isAbsolute(inside) || /^(?:\.\.(?:\/|$)|\.$|\.git(?:\/|$))/.test(inside))
      throw new RemandError(
        "config-invalid",
        `workspace.carry names ${path}, which is not a file of the project`,
        "Name files and folders by their path from the top folder of the repository, such as .env.test.",
      );
    const [source, target] = [join(main, inside), join(checkout, inside)];
    if ((await lstat(source).catch(() => null)) === null || (await lstat(target).catch(() => null)) !== null) continue;
    if (!staysInside(checkout, inside)) continue;
    await mkdir(dirname(target), { recursive: true });
    await cp(source, target, {
      recursive: true,
      verbatimSymlinks: true,
      mode: constants.COPYFILE_FICLONE,
      preserveTimestamps: true,
    });
  }
}
