import { access, constants, mkdir, rm } from "node:fs/promises";
import { delimiter, join, relative } from "node:path";
import type { AgentSpec } from "../app/agent-spec.ts";
import type { Host, Probe } from "../app/host.ts";
import { RemandError } from "../core/events/error.ts";
import { openJournalReadOnly } from "../adapters/journal/sqlite-journal.ts";
import { repositoryOpener } from "../adapters/git/repository.ts";
import { canMountFolders } from "../adapters/process/mounted-folder.ts";
import { makeTempFolder } from "../adapters/process/temp-folders.ts";
import { countText } from "../stdx/plain-text.ts";
import { type PythonReport, createOwnPython } from "../adapters/git/python/own-python.ts";
import { AGENT_REGISTRY } from "../agents/registry.ts";
import { stateFolder } from "./state-folder.ts";
import { checkVariablesOf } from "./checks/check-variables.ts";
import { fixFor, openSandboxes } from "../adapters/sandbox/open-sandboxes.ts";
import { levelText } from "../core/events/isolation.ts";
import { sandboxRequest } from "./sandboxes.ts";

/** Checks what Remand needs; every problem comes with its fix. */
export async function probe(
  root: string,
  programs: readonly (string | AgentSpec)[],
  checks: ChecksSpec,
  env: Readonly<Record<string, string | undefined>>,
  db: string | null,
): Promise<readonly Probe[]> {
  const looks = Promise.all(
    programs.map(async (program) => {
      const look =
        typeof program === "string"
          ? await programProbe(program, env)
          : await AGENT_REGISTRY[program.use].probe({ ...program, root, source: env });
      return look === null ? [] : [{ ...look, program }];
    }),
  ).then((all) => all.flat());
  if (db === null) {
    // In parallel: a client that takes a second to answer must not delay the others.
    const all = await Promise.all([
      gitProbe(root, "needed"),
      journalProbe(root),
      mountProbe(),
      sandboxProbe(root, checks, env),
      pythonProbe(root, checks, env),
      looks,
    ]);
    return [nodeProbe(), ...all.flat()];
  }
  const { databaseProbes } = await import("./database-probes.ts");
  return [nodeProbe(), await gitProbe(root, "optional"), ...(await databaseProbes(db)), ...(await looks)];
}

function nodeProbe(): Probe {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const ok = major > 20 || (major === 20 && minor >= 19);
  return { name: "node", ok, detail: process.versions.node, fix: ok ? "" : "Install Node 20.19 or newer." };
}

/**
 * Probes git and the repository. A fleet can be probed from anywhere, because each worker has a clone of its own: then
 * no repository is needed.
 */
async function gitProbe(root: string, repository: "needed" | "optional"): Promise<Probe> {
  try {
    return { name: "git", ok: true, detail: (await repositoryOpener(root)()).top, fix: "" };
  } catch (error) {
    if (!(error instanceof RemandError)) throw error;
    if (error.code === "not-a-repository" && repository === "optional")
      return { name: "git", ok: true, detail: "no repository here", fix: "" };
    return { name: "git", ok: false, detail: error.message, fix: error.hint };
  }
}

async function mountProbe(): Promise<Probe> {
  const empty = await makeTempFolder("remand-mount-");
  try {
    const detail = (await canMountFolders(empty))
      ? "large repositories are mounted, build caches are kept"
      : "files are written for each check: mounts in a namespace are not allowed here";
    return { name: "clean checkout", ok: true, detail, fix: "" };
  } finally {
    await rm(empty, { recursive: true, force: true });
  }
}

/** Finds out which sandbox agents and checks get, by trying it. */
async function sandboxProbe(
  root: string,
  { config }: ChecksSpec,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Probe[]> {
  if (config === undefined) return [];
  const { sandbox } = config;
  const name = "sandbox";
  if (sandbox.mode === "off") return [{ name, ok: true, detail: "off: agents have your rights", fix: "" }];
  const request = await sandboxRequest(root, config, env);
  const { checks, problem } = await openSandboxes({ ...request, settings: { ...request.settings, mode: "auto" } });
  if (problem === null) return [{ name, ok: true, detail: levelText(checks.level), fix: "" }];
  const ok = sandbox.mode !== "required";
  return [{ name, ok, detail: `none: ${problem}`, fix: fixFor(sandbox.use ?? "bubblewrap") }];
}

/** Checks that the journal can be written, and that an existing one is valid. */
async function journalProbe(root: string): Promise<Probe> {
  const folder = stateFolder(root);
  try {
    await mkdir(folder.path, { recursive: true });
    await access(folder.path, constants.W_OK);
    if (!(await exists(folder.journal))) return { name: "journal", ok: true, detail: "none yet", fix: "" };
    const journal = await openJournalReadOnly(folder.journal);
    const verified = await journal.verify();
    await journal.close();
    if (verified.ok)
      return {
        name: "journal",
        ok: true,
        detail: `${countText(verified.head.position, "line")}, chain intact`,
        fix: "",
      };
    return {
      name: "journal",
      ok: false,
      detail: verified.problem,
      fix: "Restore the file from a backup; do not continue with it.",
    };
  } catch (error) {
    const fix = error instanceof RemandError ? error.hint : `Make ${folder.path} writable.`;
    return { name: "journal", ok: false, detail: (error as Error).message, fix };
  }
}

async function programProbe(program: string, env: Readonly<Record<string, string | undefined>>): Promise<Probe> {
  const places = program.includes("/")
    ? [program]
    : (env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, program));
  for (const place of places) if (await exists(place)) return { name: program, ok: true, detail: place, fix: "" };
  return { name: program, ok: false, detail: "not found", fix: `Install ${program}, or put its folder on the PATH.` };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

export type ChecksSpec = Parameters<Host["probe"]>[2];

/** Checks where a Python project is imported from, here and in worktrees. `detail` is empty for other projects. */
export async function pythonProbe(
  root: string,
  { commands, env: named }: ChecksSpec,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Probe[]> {
  const python = createOwnPython({
    root,
    state: stateFolder(root).path,
    commands,
    env: checkVariablesOf(env, { env: named }).seen,
  });
  const look = await python.look(root);
  return look === null ? [] : [{ name: "python", ...standing(look) }];
}

function standing({ own, installed, notRedirectable, moved, refusal }: PythonReport): Omit<Probe, "name"> {
  if (refusal !== null) return { ok: false, detail: refusal.message, fix: refusal.hint };
  const [finder] = notRedirectable;
  if (finder !== undefined)
    return {
      ok: false,
      detail: `${finder[0]} (${finder[1]}) leads every worktree to this checkout, and cannot be turned`,
      fix: "Give each worktree an environment: workspace: { setup: python3 -m venv .venv && .venv/bin/pip install -e . }, and checks that use it.",
    };
  const [away] = moved;
  if (away !== undefined)
    return {
      ok: true,
      detail: `the editable install points to ${away[0]}; Remand uses ${away[1]}`,
      fix: "",
    };
  if (installed.length === 0) return { ok: true, detail: "nothing of this checkout is installed as editable", fix: "" };
  const names = installed.map((path) => relative(own, path) || ".").slice(0, 3);
  return {
    ok: true,
    detail: `${names.join(", ")} installed as editable; in a worktree it is imported from the worktree`,
    fix: "",
  };
}
