import { resolve } from "node:path";
import { type Checkout, EXIT, exitCodeOf } from "../app/command.ts";
import { drivePlan, prepareRun } from "../app/run-plan.ts";
import { planGates } from "../app/gate-plan.ts";
import type { Host, RunPlan } from "../app/host.ts";
import { type ConfigOptions, loadConfig, loadStories, storiesFolder, machineLayer } from "../app/load-config.ts";
import { chosenLoop, loopConfig, loopStory, seenLoops } from "../app/loop-plan.ts";
import type { ResolvedConfig } from "../config/resolve.ts";
import { type ErrorCode, type Problem, RemandError } from "../core/events/error.ts";
import { isPassed, strictReport } from "../core/gates/gate-report.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { StoriesReading } from "../parse/stories/story-files.ts";
import { EMPTY_RUN } from "../fold/new-state.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import { boardRows } from "../views/board/board.ts";
import { problemText } from "../write/reports/problem-text.ts";
import { createNodeFiles } from "../adapters/files/node-files.ts";
import { ownRedactor } from "../adapters/process/own-secrets.ts";
import { createHost } from "./host.ts";
import type { GateOptions, GateResult, LoopOptions, RunOptions, RunResult } from "./library.ts";

type CheckoutWithHost = Checkout & { readonly host: Host };

export async function runLoop(options: LoopOptions): Promise<RunResult> {
  const { goal = null, check, agent, limits = {}, set = [], fresh = false, worktree = false } = options;
  if (check.trim() === "")
    throw new RemandError(
      "usage",
      "the check is missing",
      'Name the command that says whether the work is done: check: "npm test".',
    );
  if (goal?.trim() === "") throw new RemandError("usage", "the goal is empty", "Describe the task.");
  if (isCommand(agent) && agent.length === 0)
    throw new RemandError("usage", "there is no agent", 'Give its program and arguments: agent: ["./my-agent.sh"].');
  const spec = {
    goal,
    check,
    maxIterations: limits.iterations?.toString(),
    cost: limits.costUsd?.toString(),
    time: limits.time,
    testsMayChange: options.testsMayChange,
    set,
  };
  const around = aroundOf(options);
  const { config, policy, problems } = loopConfig(spec, await machineLayer(around));
  if (config === null || policy === null) throw problemsError("config-invalid", problems);
  const seen = await seenLoops(around, options.newJournal);
  const { id, known } = chosenLoop(seen, spec, fresh);
  // A loop that has ended does not run again by accident.
  if (seen !== null && known !== null && known.ending !== null) return resultOf(seen.run, [id], false);
  const plan = {
    config,
    policy,
    stories: [loopStory(id, spec)],
    place: worktree ? "worktrees" : "in-place",
    agentCommand: isCommand(agent) ? agent : null,
    hidden: options.hidden === undefined ? "none" : { folder: resolve(around.cwd, options.hidden) },
    ...(isCommand(agent) ? {} : { agents: { [config.roles.phase.implement]: agent } }),
    newJournal: { when: options.newJournal === true ? "asked" : "missing", by: options.by ?? "library" },
  } as const;
  return driven(around, plan, [id], [id], options);
}

export async function runStories(options: RunOptions): Promise<RunResult> {
  const around = aroundOf(options);
  const preparing = await prepareRun(around, options.stories ?? [], configOptions(options));
  if (preparing.prepared === null)
    throw problemsError(preparing.wrong === "config" ? "config-invalid" : "story-invalid", preparing.problems);
  const { config, policy, stories, asked, named } = preparing.prepared;
  if (stories.length === 0) return resultOf(EMPTY_RUN, [], false);
  const { agents = {}, newJournal, by = "library" } = options;
  const asNew = newJournal === true ? { newJournal: { when: "asked", by } as const } : {};
  const plan = { config, policy, stories, place: "worktrees", agentCommand: null, agents, ...asNew } as const;
  return driven(around, plan, asked, named, options);
}

export async function judgeAlone(options: GateOptions): Promise<GateResult> {
  const { names = [], at = null, base = null, all = false, agents = {}, onOutput, onNotice } = options;
  const around = aroundOf(options);
  const { testsMayChange, strict = false } = options;
  const spec = { ...configOptions(options), names, at, base, all, testsMayChange };
  const { plan, problems } = await planGates(around, spec);
  if (plan === null) throw problemsError("config-invalid", problems);
  const seen = await around.host.gate(around.cwd, {
    ...plan,
    agents,
    signal: options.signal ?? new AbortController().signal,
    onOutput: onOutput ?? (() => undefined),
    onNotice: onNotice ?? (() => undefined),
  });
  const report = strict ? strictReport(seen) : seen;
  return ownRedactor().fields({ ...report, passed: isPassed(report) });
}

export async function effectiveConfig(options: Parameters<typeof configOptions>[0]): Promise<ResolvedConfig> {
  return loadConfig(aroundOf(options), configOptions(options));
}

export async function readStories(options: Parameters<typeof configOptions>[0]): Promise<StoriesReading> {
  const around = aroundOf(options);
  const { config } = await loadConfig(around, configOptions(options));
  return loadStories(around, storiesFolder(around, config));
}

async function driven(
  around: CheckoutWithHost,
  plan: Omit<RunPlan, "watcher">,
  asked: readonly StoryId[],
  named: readonly StoryId[],
  { signal = new AbortController().signal, by = "library", onLines, onOutput, onNotice }: LoopOptions | RunOptions,
): Promise<RunResult> {
  const watcher = {
    onLines: onLines ?? (() => undefined),
    onOutput: onOutput ?? (() => undefined),
  };
  const state = await drivePlan(around, {
    plan: { ...plan, watcher, onNotice: onNotice ?? (() => undefined) },
    asked,
    named,
    by,
    signal,
  });
  return resultOf(state, asked, signal.aborted);
}

function resultOf(folded: RunState, asked: readonly StoryId[], interrupted: boolean): RunResult {
  // A journal of an older version may contain secrets.
  const state = ownRedactor().fields(folded);
  const exitCode = exitCodeOf(state, asked);
  return {
    // A signal that came too late to stop anything does not change the exit code.
    exitCode: interrupted && exitCode === EXIT.running ? EXIT.interrupted : exitCode,
    stories: boardRows(state, asked).map((row) => ({
      ...row,
      question: lookup(state.stories, row.id, byText)?.escalation ?? null,
    })),
    state,
  };
}

function aroundOf({ root, env = process.env }: Pick<RunOptions, "root" | "env">): CheckoutWithHost {
  return { cwd: resolve(root), env, files: createNodeFiles(), host: createHost(env) };
}

function configOptions({ config, set }: Pick<RunOptions, "root" | "env" | "config" | "set">): ConfigOptions {
  return typeof config === "string" ? { config, set } : { value: config, set };
}

const isCommand = (agent: LoopOptions["agent"]): agent is readonly string[] => Array.isArray(agent);

function problemsError(code: ErrorCode, problems: readonly Problem[]): RemandError {
  const errors = problems.filter(({ severity }) => severity === "error");
  return new RemandError(
    code,
    errors.map((problem) => problemText(problem, { color: false })).join("\n"),
    errors[0]?.hint ?? "Fix the problems above.",
  );
}
