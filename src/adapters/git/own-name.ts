import { randomBytes } from "node:crypto";

/** A name that no other process gives, and that says which process gave it. */
export const ownName = (): string => `${process.pid}-${randomBytes(4).toString("hex")}`;

export function isAlivePid(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user is a process too.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
