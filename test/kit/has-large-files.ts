import { spawnSync } from "node:child_process";

/** Is the program there that fetches large files for git? */
export const hasLargeFiles = (): boolean => spawnSync("git", ["lfs", "version"]).status === 0;
