/** What is wrong with the machine, and what to do about it. */
export interface SystemFault {
  readonly fact: string;
  readonly fix: string;
}

/** Errors that say nothing about the file or the program they occurred with: any other would have failed, too. */
const FAULTS: Readonly<Record<string, SystemFault>> = {
  ENOSPC: { fact: "the disk is full", fix: "Make room on the disk, and run the same command again." },
  EDQUOT: { fact: "your disk quota is used up", fix: "Delete files of yours, and run the same command again." },
  EROFS: {
    fact: "the disk is read-only",
    fix: "Work in a copy on a disk that can be written to, or mount this one for writing.",
  },
  EMFILE: {
    fact: "too many files are open in this process",
    fix: "Raise the limit of open files (ulimit -n 4096), and run the same command again.",
  },
  ENFILE: {
    fact: "too many files are open on this system",
    fix: "End other programs, or raise the limit of the system, and run the same command again.",
  },
};

/** Of an error, or of one that it wraps; `null` for every other error. */
export function systemFault(error: unknown): SystemFault | null {
  if (!(error instanceof Error)) return null;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return FAULTS[code] ?? systemFault(error.cause);
}
