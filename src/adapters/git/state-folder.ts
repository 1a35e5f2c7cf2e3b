import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RemandError } from "../../domain/error.ts";

/** Makes the folder in which Remand keeps its own things. It ignores itself, so that no user has to. */
export async function ensureStateFolder(state: string): Promise<void> {
  try {
    await mkdir(state, { recursive: true });
    await writeFile(join(state, ".gitignore"), "*\n", { flag: "wx" });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return;
    throw new RemandError(
      "workspace-broken",
      `cannot make ${state}: ${error instanceof Error ? error.message : String(error)}`,
      "Give Remand a folder it may write to.",
      { cause: error },
    );
  }
}
