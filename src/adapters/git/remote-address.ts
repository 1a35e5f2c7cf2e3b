import { repositoryOpener, line } from "./repository.ts";

/** Where a remote is; `null` where there is none of that name. */
export async function remoteAddress(root: string, remote: string): Promise<string | null> {
  const { git } = await repositoryOpener(root)();
  const { exitCode, stdout } = await git.ask(["remote", "get-url", "--", remote]);
  return exitCode === 0 ? line(stdout) : null;
}
