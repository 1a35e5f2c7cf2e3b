import type { Git } from "../git.ts";

/** Where clean checkouts get what git does not hold: the user's checkout, or a copy of it from an earlier time. */
export interface DependencySource {
  /** The folder with the files, by their paths in the checkout. */
  readonly root: string;
  /** The checkout that they belong to: absolute links and the first lines of programs name this folder. */
  readonly checkout: string;
  /** What git ignores there; of a folder that is ignored as a whole, its name alone. */
  ignored(): Promise<readonly string[]>;
  isIgnored(path: string): Promise<boolean>;
}

/** Keeps what was installed in one place for others. */
export interface InstallationStore {
  /**
   * An entry that is as it was made. What was added to it since is removed, what was changed is copied again. One that
   * cannot be brought back is removed, and the file that is lost is named.
   */
  find(key: string, onLost?: (path: string) => void): Promise<DependencySource | null>;
  /** Moves folders of a place that is thrown away. */
  keepMoved(key: string, place: string, folders: readonly string[]): Promise<DependencySource>;
}

/** Dependencies as they were at one time. */
export interface KeptDependencies {
  /** A copy that is looked at before each use. An error where it was changed and cannot be made again. */
  source(): Promise<DependencySource>;
  readonly store: InstallationStore;
}

/** The user's checkout as it is now. */
export function liveSource(git: Git, checkout: string): DependencySource {
  return {
    root: checkout,
    checkout,
    ignored: () => ignoredIn(git, checkout),
    isIgnored: async (path) =>
      (await git.ask(["check-ignore", "--quiet", "--", path], { cwd: checkout })).exitCode === 0,
  };
}

/** A copy, with what git ignored when it was made. */
export function keptSource(root: string, checkout: string, ignored: readonly string[]): DependencySource {
  return {
    root,
    checkout,
    ignored: () => Promise.resolve(ignored),
    isIgnored: (path) => Promise.resolve(ignored.some((each) => `${path}/`.startsWith(`${each}/`))),
  };
}

export async function ignoredIn(git: Git, folder: string): Promise<readonly string[]> {
  const args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
  const listed = (await git.run(args, { cwd: folder })).split("\0");
  return listed.map((path) => path.replace(/\/$/, "")).filter((path) => path !== "");
}

/** Is this a folder of installed packages, and not one inside another? */
export function isInstalledFolder(path: string): boolean {
  const parts = path.split("/");
  return INSTALLED.test(parts.at(-1)!) && !parts.slice(0, -1).some((part) => INSTALLED.test(part));
}

const INSTALLED = /^(?:node_modules|bower_components|\.venv|venv|vendor|deps|\.bundle)$/;
