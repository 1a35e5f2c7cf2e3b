import { stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import type { HidePlan, HideReport } from "../app/host-plans.ts";
import type { Config } from "../config/config.ts";
import { RemandError } from "../core/events/error.ts";
import { viewGit } from "../adapters/git/git-view.ts";
import {
  type HiddenFiles,
  HIDE_SUBJECT,
  copyHiddenFiles,
  forgetHidden,
  hiddenFolder,
  hideFiles,
  readHiddenFiles,
  stillInProject,
} from "../adapters/git/hidden-files.ts";
import { repositoryOpener, userStateFolder } from "../adapters/git/repository.ts";
import type { Sandboxes, SandboxRequest } from "../adapters/sandbox/open-sandboxes.ts";
import type { HiddenParts } from "../gates/checks/hidden-checks.ts";
import { countText } from "../stdx/plain-text.ts";
import { assertAuthority, speakerIn } from "./journal/author.ts";

type EnvVariables = Readonly<Record<string, string | undefined>>;

/** Which hidden files a run uses: those of a folder, none, or (absent) those that are stored for the project. */
export type HiddenSource = { readonly folder: string } | "none" | undefined;

/** What a sandbox withholds from programs because files are hidden; `null`: no files are. */
export async function hiddenInSandbox(
  root: string,
  source: HiddenSource,
  env: EnvVariables,
): Promise<Required<SandboxRequest>["hidden"] | null> {
  const kept = await readHiddenFiles(await hiddenFolder(userStateFolder(env), root));
  const named = typeof source === "object" ? await filesIn(root, source.folder) : null;
  const all = [kept, named].filter((each) => each !== null);
  if (all.length === 0) return null;
  const repository = await repositoryOpener(root)();
  const folder = join(userStateFolder(env), "git-views");
  return {
    paths: all.flatMap(({ folder: each, paths }) => [each, ...paths.map((path) => join(root, path))]),
    viewGit: (top, history) => viewGit(top, { repository, hidden: all, folder, history }),
  };
}

/**
 * What the checks gate needs to run hidden checks; `null`: there are none. Throws where an agent would see the files.
 */
export async function hiddenPartsOf(
  root: string,
  {
    config,
    hidden: source,
    place,
  }: {
    readonly config: Pick<Config, "gates">;
    readonly hidden?: HiddenSource;
    readonly place: "worktrees" | "in-place";
  },
  env: EnvVariables,
  sandboxes: Sandboxes,
): Promise<HiddenParts | null> {
  const files = await filesOf(root, source, env);
  if (files === null) {
    if (source === "none" || (config.gates.checks.hidden ?? []).length === 0) return null;
    throw new RemandError(
      "check-unusable",
      "gates.checks.hidden has commands, and no file is hidden for this project on this machine",
      "Hide files: remand hide <paths>; or take gates.checks.hidden out of the config.",
    );
  }
  const left = await stillInProject(root, files, place === "in-place" ? null : "HEAD");
  if (left.length > 0) throw notHidden(left);
  return partsOf(files, sandboxes);
}

/** The same for `remand gate`, without an engine: missing parts are reported and stop nothing. */
export async function hiddenPartsForGate(
  root: string,
  config: Pick<Config, "gates">,
  env: EnvVariables,
  sandboxes: Sandboxes,
  onNotice: (text: string) => void,
): Promise<HiddenParts | null> {
  const isWanted = (config.gates.checks.hidden ?? []).length > 0;
  const files = await filesOf(root, undefined, env);
  if (files === null && isWanted) onNotice("hidden checks were not run: no file is hidden on this machine");
  return files === null ? null : partsOf(files, sandboxes);
}

const partsOf = (files: HiddenFiles, { hiddenChecks, agents }: Sandboxes): HiddenParts => ({
  paths: files.paths,
  copyInto: (checkout) => copyHiddenFiles(files, checkout),
  sandbox: hiddenChecks,
  exposure: agents.level.kind === "bubblewrap" ? null : `agents could read them (sandbox: ${agents.level.kind})`,
});

async function filesOf(root: string, source: HiddenSource, env: EnvVariables): Promise<HiddenFiles | null> {
  if (source === "none") return null;
  return source === undefined
    ? readHiddenFiles(await hiddenFolder(userStateFolder(env), root))
    : filesIn(root, source.folder);
}

async function filesIn(root: string, named: string): Promise<HiddenFiles> {
  const folder = resolve(root, named);
  const { top } = await repositoryOpener(root)();
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() !== true)
    throw new RemandError(
      "file-missing",
      `there is no folder ${named}`,
      "Give --hidden a folder with the hidden files.",
    );
  if (!relative(top, folder).startsWith(".."))
    throw new RemandError(
      "usage",
      `${named} is in the checkout, where the agent sees it`,
      "Move the folder out of the checkout, and give --hidden its new path.",
    );
  const files = await readHiddenFiles(folder);
  if (files === null)
    throw new RemandError(
      "usage",
      `${named} holds no files`,
      "Put the hidden files there, by their paths in the project.",
    );
  return files;
}

function notHidden(left: readonly string[]): RemandError {
  const some = left.slice(0, MOST_NAMED);
  return new RemandError(
    "workspace-broken",
    `${countText(left.length, "hidden file")} ${left.length === 1 ? "is" : "are"} still in the project, where agents see them: ${some.join(", ")}`,
    `Remove them by a commit: remand hide --commit ${some.join(" ")}`,
  );
}

const MOST_NAMED = 8;

/** Hides files of the project, lists hidden files, or deletes copies. Refuses a process that an engine started. */
export async function hide(root: string, plan: HidePlan, env: EnvVariables): Promise<HideReport> {
  assertAuthority(await speakerIn(root, env), []);
  const folder = await hiddenFolder(userStateFolder(env), root);
  const dropped = plan.forget ? await forgetHidden(folder, plan.paths) : [];
  const report = await hideFiles(root, folder, { paths: plan.forget ? [] : plan.paths, commit: plan.commit });
  return { ...report, dropped, subject: HIDE_SUBJECT };
}
