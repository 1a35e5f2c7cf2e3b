import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { storeFolder } from "../adapters/git/dependencies/kept-checkout.ts";
import { repositoryOpener, userStateFolder } from "../adapters/git/repository.ts";
import { type SandboxRequest, type Sandboxes, openSandboxes } from "../adapters/sandbox/open-sandboxes.ts";
import { userFile } from "../app/load-config.ts";
import type { Config } from "../config/config.ts";
import { type HiddenSource, hiddenInSandbox } from "./hidden-files.ts";
import { normalizeCommand } from "../config/normalize-command.ts";
import { privateHomeOf } from "./workspaces.ts";
import { stateFolder } from "./state-folder.ts";

type SandboxedConfig = Pick<Config, "sandbox" | "env" | "gates">;
type EnvVariables = Readonly<Record<string, string | undefined>>;

/** The sandboxes for the programs of one checkout. `onNotice` is called if one is missing. */
export async function sandboxesOf(
  root: string,
  config: SandboxedConfig,
  env: EnvVariables,
  onNotice: (text: string) => void,
  hiddenFiles?: HiddenSource,
): Promise<Sandboxes> {
  const hidden = await hiddenInSandbox(root, hiddenFiles, env);
  const request = await sandboxRequest(root, config, env);
  const sandboxes = await openSandboxes(hidden === null ? request : { ...request, hidden });
  if (sandboxes.problem !== null)
    onNotice(`agents and checks run without a sandbox: ${sandboxes.problem} (remand doctor says what to do)`);
  return sandboxes;
}

export async function sandboxRequest(
  root: string,
  { sandbox, env: variables, gates }: SandboxedConfig,
  env: EnvVariables,
): Promise<SandboxRequest> {
  const userState = userStateFolder(env);
  const repository = await repositoryOpener(root)().catch(() => null);
  const { path: state, logs } = stateFolder(root);
  const settings = userFile(env);
  const { home } = privateHomeOf(env);
  const expand = (path: string): string => (home === undefined ? path : path.replace(/^~(?=\/|$)/, home));
  return {
    settings: sandbox,
    userState,
    user: {
      home,
      env,
      docker: sandbox.docker,
      read: [PACKAGE, dirname(process.execPath), ...sandbox.read.map(expand)],
      write: sandbox.write.map(expand),
      variables,
      checks: Object.values(gates).flatMap((gate) => gate.commands.map((each) => normalizeCommand(each).run)),
    },
    project: {
      top: repository?.top ?? root,
      commonDir: repository?.commonDir ?? join(root, ".git"),
      state,
      remandFolders: [userState, ...(settings === null ? [] : [dirname(settings)])],
      packages: repository === null ? [] : [storeFolder(userState, repository)],
      readableFolders: [join(state, "python"), logs],
    },
  };
}

/** Must be readable in the sandbox: test runners load the reporters of this package. */
const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
