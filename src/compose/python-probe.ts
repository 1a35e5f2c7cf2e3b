import { relative } from "node:path";
import type { Host, Probe } from "../cli/host.ts";
import { createOwnPython, type PythonLook } from "../adapters/git/own-python.ts";
import { checkVariablesOf } from "./check-variables.ts";
import { stateFolder } from "./state-folder.ts";

export type ChecksWish = Parameters<Host["probe"]>[2];

/** Where a Python project is imported from, here and in worktrees. Nothing is said where there is no such project. */
export async function pythonProbe(
  root: string,
  { commands, env: named }: ChecksWish,
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

function standing({ own, installed, fixed, moved, refusal }: PythonLook): Omit<Probe, "name"> {
  if (refusal !== null) return { ok: false, detail: refusal.message, fix: refusal.hint };
  const [finder] = fixed;
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
      detail: `what is installed as editable is ${away[0]}; what Remand starts is led to ${away[1]}`,
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
