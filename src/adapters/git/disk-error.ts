import { RemandError } from "../../domain/error.ts";

/** Does work on files. What the disk refuses (full, read-only, not ours) is an operating error, with a way out. */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && "syscall" in error)) throw error;
    throw new RemandError(
      "workspace-broken",
      `the workspace cannot be used: ${error.message}`,
      HINTS[String(error.code)] ?? "Mend what the system says, and run the same command again.",
      { cause: error },
    );
  }
}

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: "Make room on the disk, and run the same command again.",
  EROFS: "The disk is read-only: give Remand a folder it may write to.",
  EACCES: "Change the permissions of that folder, or run as someone who may write to it.",
  EPERM: "Change the permissions of that folder, or run as someone who may write to it.",
};
