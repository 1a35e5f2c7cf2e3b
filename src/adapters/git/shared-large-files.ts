import type { Fetching } from "./shared-commits.ts";

/**
 * Large files do not travel in commits: those hold pointers, and git-lfs sends the files from a hook, which is not run
 * here. A pointer to a file that nobody has is refused by some servers and of use to no other machine, so the files are
 * sent first. Without git-lfs nobody here can have made any.
 */
export function createLargeFiles(): { send(fetching: Fetching, commit: string): Promise<void> } {
  let isInstalled: Promise<boolean> | null = null;
  return {
    async send({ git, remote }, commit) {
      isInstalled ??= installed({ git });
      if (!(await isInstalled)) return;
      const asked = ["grep", "--quiet", "--fixed-strings", "filter=lfs", commit, "--", "*.gitattributes"];
      if ((await git.ask(asked)).exitCode === 0) await remote.sendLargeFiles(commit);
    },
  };
}

async function installed({ git }: Pick<Fetching, "git">): Promise<boolean> {
  const isConfigured = (await git.ask(["config", "--get", "filter.lfs.clean"])).exitCode === 0;
  return isConfigured && (await git.ask(["lfs", "version"])).exitCode === 0;
}
