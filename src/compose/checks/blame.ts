import type { BlamePlan } from "../../app/host-plans.ts";
import type { Blame, BlameReport } from "../../core/blame/blame.ts";
import { storyId } from "../../core/events/ids.ts";
import type { ProofAnswer } from "../../decide/blame/prove-blame.ts";
import { findBlame } from "../../engine/find-blame.ts";
import type { ExtraCheckouts, ProofOptions } from "../../engine/proof-runner.ts";
import type { ExperimentCheckout, Trial } from "../../ports/experiment-runner.ts";
import { blamedHunks } from "../../views/board/check-reports.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import { createSystemClock } from "../../adapters/clock/system-clock.ts";
import { type GatedCheckout, openGatedCheckout } from "../../adapters/git/checkout/gated-checkout.ts";
import { createExperimentRunner } from "../../adapters/git/experiment-runner.ts";
import { createOwnPython } from "../../adapters/git/python/own-python.ts";
import { originsOf } from "../../adapters/git/history.ts";
import { userStateFolder } from "../../adapters/git/repository.ts";
import { assertCheckout } from "../../adapters/git/worktree/start-commit.ts";
import { createWorktrees } from "../../adapters/git/worktree/worktrees.ts";
import { createCommandTrial } from "../../gates/checks/command-trial.ts";
import { stateFolder } from "../state-folder.ts";
import { setupVariablesOf } from "./check-variables.ts";
import { environmentWith } from "./own-python.ts";
import { sandboxesOf } from "../sandboxes.ts";

/** Reports which part of a change broke a check. The checkout is only read; experiments run elsewhere. */
export async function blame(
  root: string,
  plan: BlamePlan,
  env: Readonly<Record<string, string | undefined>>,
): Promise<BlameReport> {
  await assertCheckout(root, "commit");
  const { path: state } = stateFolder(root);
  const { setup, share, carry, inputs = [] } = plan.config.workspace;
  const setupEnv = setupVariablesOf(root, env, plan.config);
  const { at, base, signal } = plan;
  const onNotice = (text: string): void => plan.onNotice(text);
  // A person runs this command in a terminal, so the check gets the same environment as that terminal.
  const seen = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const sandboxes = await sandboxesOf(root, plan.config, env, onNotice);
  const commands = plan.command === null ? [] : [plan.command];
  const trial = createCommandTrial(
    environmentWith(seen, createOwnPython({ root, state, commands, env: seen, sandbox: sandboxes.checks, onNotice })),
    sandboxes.checks,
  );
  const files = {
    root,
    setup,
    share,
    carry,
    inputs,
    setupEnv,
    sandbox: sandboxes.agents,
    userState: userStateFolder(env),
    onNotice,
  };
  const place = await openGatedCheckout({ ...files, state, at, base, signal });
  try {
    const experimentRunner = createExperimentRunner({ ...files, installs: false });
    const more = { count: experimentRunner.extraCheckouts?.() ?? 0, open: () => experimentRunner.open({ signal }) };
    const checkout = await experimentRunner.open({ signal });
    try {
      return await blameIn(root, plan, place, { checkout, more, trial });
    } finally {
      await checkout.close();
    }
  } finally {
    await place.close();
  }
}

/** Adds where the culprit came from: its commit, and the story of that commit as far as git knows. */
async function traceBlame(
  root: string,
  { base, commit, tree }: GatedCheckout,
  found: Pick<BlameReport, "considered" | "hunks"> & { readonly blame: Blame },
): Promise<Pick<BlameReport, "blame" | "considered" | "hunks">> {
  const named = blamedHunks(found);
  const hunks = named.map(({ hunk }) => hunk);
  const origins = await originsOf(root, { base, commit, tree }, hunks);
  const suspects = found.blame.suspects.map((suspect) => {
    const at = hunks.findIndex(
      ({ file, start, end }) => file === suspect.file && start <= suspect.line && suspect.line <= end,
    );
    const { subject: _, ...known } = origins[at] ?? { subject: "" };
    return { ...suspect, ...known };
  });
  const considered = found.considered.map((each) => {
    const origin = origins[named.indexOf(each)];
    return origin ? { ...each, origin } : each;
  });
  return { ...found, blame: { ...found.blame, suspects }, considered };
}

function experimentsIn(proof: ProofAnswer | null): NonNullable<BlameReport["experiments"]> {
  return (proof?.experiments ?? []).map(({ purpose, without, outcome: { outcomes, tookMs } }) => ({
    purpose,
    without,
    outcomes,
    tookMs: Math.round(tookMs),
  }));
}

function whyUnproven({ command, prove }: BlamePlan): string {
  if (command === null) return "no check is known: give --check";
  return prove ? "the runs did not settle it" : "--no-prove";
}

const NO_STORY = storyId("blame");

interface BlameRunner {
  readonly checkout: ExperimentCheckout;
  readonly more: ExtraCheckouts;
  readonly trial: Trial;
}

async function blameIn(
  root: string,
  plan: BlamePlan,
  place: GatedCheckout,
  { checkout, more, trial }: BlameRunner,
): Promise<BlameReport> {
  const clock = createSystemClock();
  const beganAt = clock.now();
  const { command, signal, limits } = plan;
  const work = createWorktrees({ root, state: stateFolder(root).path });
  const report = (
    more: Pick<BlameReport, "blame" | "considered" | "hunks" | "runs" | "unproven" | "experiments">,
  ): BlameReport => ({
    ...more,
    seconds: Math.round((clock.now() - beganAt) / 100) / 10,
    base: place.baseName,
    command,
  });
  let runs = 0;
  let output = plan.output;
  if (output === null && command !== null) {
    await checkout.set(place.tree, new Map());
    plan.onRun(`${command}: as it is`);
    const run = await trial.run({ command, path: checkout.path, timeoutMs: limits.timeMs }, { signal });
    runs++;
    if (run.passed) return report({ blame: null, considered: [], hunks: [], runs, unproven: null });
    output = run.output;
  }
  const proof: ProofOptions | null = command === null || !plan.prove ? null : { trial, command, limits };
  const {
    blame: found,
    ranked,
    proof: proven,
  } = await findBlame(
    {
      output: output ?? "",
      root: plan.output === null ? checkout.path : place.path,
      base: place.base,
      tree: place.tree,
      diff: await work.diff(NO_STORY, place.base, place.tree),
      isTest: (file) => matchesAnyGlob(file, plan.config.scope.testPaths),
    },
    {
      checkout,
      textBefore: (file) => work.fileAt(NO_STORY, place.base, file),
      proof,
      signal,
      now: () => clock.now(),
      onRun: (what) => plan.onRun(what),
      more,
    },
  );
  const hunks = proven?.hunks ?? [];
  return report({
    ...(await traceBlame(root, place, { blame: found, considered: ranked.hunks, hunks })),
    runs: runs + (proven?.runs ?? 0),
    unproven: found.basis === "proven" ? null : whyUnproven(plan),
    experiments: experimentsIn(proven),
  });
}
