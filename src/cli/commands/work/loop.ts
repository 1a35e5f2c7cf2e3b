import { join, resolve } from "node:path";
import { countText, nearMiss } from "../../../stdx/plain-text.ts";
import { RemandError } from "../../../core/events/error.ts";
import type { StoryId } from "../../../core/events/ids.ts";
import type { Policy } from "../../../core/events/policy.ts";
import type { RunState } from "../../../core/stories/run-state.ts";
import type { StoryState } from "../../../core/stories/story-state.ts";
import { assert } from "../../../stdx/assert.ts";
import { byText, lookup } from "../../../stdx/sorted-map.ts";
import { durationText } from "../../../views/text/words.ts";
import { problemText } from "../../../write/reports/problem-text.ts";
import { type Checkout, type CliCommand, EXIT, type ExitCode, INTERRUPTED, type World } from "../../../app/command.ts";
import { loadConfig, machineLayer } from "../../../app/load-config.ts";
import {
  type LoopSpec,
  chosenLoop,
  lastLoop,
  loopConfig,
  loopId,
  loopStory,
  newestLoopId,
  seenLoops,
} from "../../../app/loop-plan.ts";
import { NEW_JOURNAL_HELP } from "../../../app/with-journal.ts";
import { collect, personOf } from "../../../app/option-values.ts";
import { ProblemsFound } from "../../problems-found.ts";
import { FORCE_HELP, loopPreflight } from "../../preflight.ts";
import { stoppable } from "../../terminal-kind.ts";
import { REPORTERS } from "../../reporters/reporter.ts";
import { runEngine } from "../../run-engine.ts";
import { CLIENT_PROGRAMS, isClientProgram } from "../../../core/stories/agent-client.ts";

interface Options {
  readonly goal?: string;
  readonly check?: string;
  readonly agent?: string;
  readonly config?: string;
  readonly new?: boolean;
  readonly force?: boolean;
  readonly undo?: boolean;
  readonly worktree?: boolean;
  readonly newJournal?: boolean;
  readonly maxIterations?: string;
  readonly cost?: string;
  readonly time?: string;
  readonly known?: readonly string[];
  readonly testsMayChange?: readonly string[];
  readonly hidden?: string;
  readonly set?: readonly string[];
  readonly reporter?: string;
  readonly json?: boolean;
}

const EXAMPLES = `Examples:
  remand loop --goal "make the parser accept tabs" --check "npm test" --agent claude
  remand loop --check "npm test" --agent fixer        the agent that remand.yaml calls fixer
  remand loop --goal @task.md --check "pytest -q" --max-iterations 5 --time 30m -- ./my-agent.sh
  remand loop --check "npm test" --known "test/legacy/**" --agent claude   what fails there already is left as it is
  remand loop --goal "round totals up" --check "npm test" --tests-may-change "test/total.test.js" --agent claude
  remand loop --goal "parse dates" --check "npm test" --hidden ../hidden-tests --agent claude   tests that the agent never sees
  remand loop --goal "tidy up" --check "npm test" --force --agent claude   even if the check passes already
  remand loop --undo                                  bring the files back to how they were before the loop

The prompt goes to the agent's standard input. It works in this folder; your branch, index and stash stay as they are.
Started again with the same goal and check it continues where it was. Exit code: 0 accepted, 4 a person must act,
5 a money or time budget, 3 rejected, 2 wrong usage.
`;

export const command: CliCommand = {
  name: "loop",
  register(command, world, done) {
    command
      .usage("--goal <text|@file> --check <command> [options] --agent <name> | -- <agent command…>")
      .argument("[agent...]", "the command that is the agent, after --")
      .option("--goal <text>", "the task for the agent; @file reads it from a file")
      .option("--check <command>", "the command that says whether it is done")
      .option("--new", "start over, even if this loop has been run before")
      .option("--force", FORCE_HELP)
      .option("--undo", "bring the files back to how they were before the loop")
      .option("--new-journal", NEW_JOURNAL_HELP)
      .option("--worktree", "work in a worktree of its own instead of this folder")
      .option("--max-iterations <number>", "attempts at most, 1 to 100 (default: 15)")
      .option("--cost <dollars>", "stop and ask at this cost, where the agent says what it costs (default: 10)")
      .option("--time <length>", "stop and ask after this time, such as 30m (default: 2h)")
      .option(
        "--known <glob>",
        "a test that fails at the start and need not pass: name, file or pattern; can be given again",
        collect,
      )
      .option(
        "--tests-may-change <glob>",
        "an existing test that the agent may change: name, file or pattern; can be given again",
        collect,
      )
      .option(
        "--hidden <folder>",
        "files that the agent never sees, by their paths in the project: with them the check must pass too",
      )
      .option("--agent <name>", `an agent of remand.yaml by its role, or ${CLIENT_PROGRAMS.join(" or ")}`)
      .option("--set <path=value>", "set any value of the config; can be given again", collect)
      .option("--reporter <name>", `how progress is shown: ${REPORTERS.join(", ")}`)
      .option("--json", "print a document of the schema remand.run/1 when it is over")
      .addHelpText("before", EXAMPLES)
      .action(async (agent: string[], options: Options) => done(await loop(world, agent, options)));
  },
};

async function loop(world: World, agent: readonly string[], options: Options): Promise<ExitCode> {
  if (options.undo === true) return undo(world, options);
  const spec = await withAgent(world, await specOf(world, options), agent, options);
  const { config, policy, problems } = loopConfig(spec, await machineLayer(world));
  for (const problem of problems) world.err(`${problemText(problem, world)}\n`);
  if (config === null || policy === null) throw new ProblemsFound(problems);
  if (agent.length === 0 && !Object.hasOwn(config.agents, config.roles.phase.implement))
    throw new RemandError(
      "usage",
      "there is no agent",
      "Name one (--agent claude), or give its command at the end, after --: -- ./my-agent.sh",
    );

  const { id, known, undone } = chosenLoop(await seenLoops(world, options.newJournal), spec, options.new === true);
  if (undone !== null) world.err(`remand: ${undone} was accepted and then undone: starting over\n`);
  const over = known === null ? null : alreadyOver(world, known);
  if (over !== null) return over;
  const by = await personOf(world, undefined).catch(() => "remand loop");
  const plan = {
    config,
    policy,
    stories: [loopStory(id, spec)],
    place: options.worktree === true ? "worktrees" : "in-place",
    agentCommand: agent.length === 0 ? null : agent,
    ...(options.force === true ? { force: true } : {}),
    hidden: options.hidden === undefined ? "none" : { folder: resolve(world.cwd, options.hidden) },
    newJournal: { when: options.newJournal === true ? "asked" : "missing", by },
  } as const;
  if (options.force !== true && (known === null || known.attempts.length === 0)) {
    const at = plan.place === "in-place" ? "files" : "commit";
    const { done: may, interrupt } = await stoppable(world, (signal) =>
      loopPreflight(
        world,
        { ...plan, at, isRun: true, signal, onProgress: (text) => world.err(`remand: ${text}\n`) },
        spec.goal !== null,
      ),
    );
    if (interrupt !== null) return INTERRUPTED[interrupt];
    if (may === "again") return loop(world, agent, options);
    if (may !== "go") return may;
  }
  if (known !== null && spec.known !== undefined) await excludeFromNowOn(world, known, policy, by);
  if (known !== null) await allowFromNowOn(world, known, spec.testsMayChange ?? [], by);
  const { exit, state } = await runEngine(world, plan, [id], {
    reporter: options.reporter,
    json: options.json,
    named: [id],
    by,
  });
  sayNext(world, state, id, plan.place);
  return exit;
}

/** A continued loop keeps the policy it started with, except for newly excluded tests. */
async function excludeFromNowOn(world: World, { story, policy }: StoryState, now: Policy, by: string): Promise<void> {
  if (policy === null || now.knownFailures === undefined) return;
  const applied = { ...policy, knownFailures: now.knownFailures };
  await world.host.appendEvents(world.cwd, story.id, [{ type: "policy.applied", policy: applied, by }]);
}

/**
 * A loop keeps the license that it started with. More is added as a person's answer, with or without an open question.
 */
async function allowFromNowOn(
  world: World,
  { story, licensed = [], escalation }: StoryState,
  wanted: readonly string[],
  by: string,
): Promise<void> {
  const has = new Set([...(story.tests ?? []), ...licensed.map(({ test }) => test)]);
  const tests = wanted.filter((test) => !has.has(test));
  if (tests.length === 0) return;
  const answer = { verb: "allow", by, message: "given with --tests-may-change", tests } as const;
  const asked = escalation?.reason.type === "contested-tests" ? escalation.id : null;
  await world.host.appendEvents(world.cwd, story.id, [
    { type: "person.answered", answer: { ...answer, escalation: asked } },
  ]);
}

async function withAgent(
  world: World,
  spec: LoopSpec,
  command: readonly string[],
  { agent, config }: Options,
): Promise<LoopSpec> {
  if (agent === undefined) return spec;
  if (command.length > 0)
    throw new RemandError("usage", "two agents are given", "Give either --agent or a command after --.");
  return { ...spec, set: [...(await namedAgent(world, agent, { config })), ...spec.set] };
}

async function specOf(world: World, options: Options): Promise<LoopSpec> {
  if (options.check === undefined || options.check.trim() === "") {
    throw new RemandError("usage", "the check is missing", 'Give a check: --check "npm test"');
  }
  const { check, maxIterations, cost, time, known, testsMayChange, set = [] } = options;
  const goal = options.goal === undefined ? null : await goalText(world, options.goal);
  return { goal, check, maxIterations, cost, time, known, testsMayChange, set };
}

async function goalText(world: World, typed: string): Promise<string> {
  const text = typed.startsWith("@") ? await world.files.read(resolve(world.cwd, typed.slice(1))) : typed;
  if (text === null)
    throw new RemandError("usage", `there is no file ${typed.slice(1)}`, "Give --goal @file a file that exists.");
  if (text.trim() === "") throw new RemandError("usage", "the goal is empty", 'Describe the task: --goal "…"');
  return text;
}

/** An ended loop does not run again by accident; an open one continues, with a message. */
function alreadyOver(world: World, state: StoryState): ExitCode | null {
  const { id } = state.story;
  const before = state.attempts.length;
  if (state.ending === null) {
    world.err(`remand: continuing ${id} after ${countText(before, "attempt")} (--new starts over)\n`);
    return null;
  }
  const ago = durationText(Math.max(0, world.now() - state.ending.at));
  if (state.ending.how === "accepted") {
    world.out(`${id} was accepted ${ago} ago, after ${countText(before, "attempt")}; --new starts over\n`);
    return EXIT.ok;
  }
  world.out(`${id} ended ${ago} ago as ${state.ending.how}: ${state.ending.reason}; --new starts over\n`);
  return EXIT.rejected;
}

function sayNext(world: World, run: RunState, id: StoryId, place: "in-place" | "worktrees"): void {
  const state: StoryState | undefined = lookup(run.stories, id, byText);
  // Work in a worktree is not in the checkout yet: the user merges it instead of undoing it.
  const next = place === "in-place" ? "to take it back: remand loop --undo" : `to take it over: git merge remand/${id}`;
  if (state?.ending?.how === "accepted") world.err(`remand: what was changed: remand diff ${id}   ${next}\n`);
  if (state?.escalation != null)
    world.err(`remand: its history: remand show ${id}   its open questions: remand inbox\n`);
}

async function undo(world: World, options: Options): Promise<ExitCode> {
  const seen = await seenLoops(world);
  const id = seen === null ? null : await loopToUndo(world, seen.run, options);
  const before = seen === null || id === null ? undefined : seen.prepared.get(id);
  if (id === null || before === undefined) {
    throw new RemandError("usage", "there is no loop here to undo", "Give the goal and the check of the one you mean.");
  }
  const { config, policy } = loopConfig({ goal: null, check: options.check ?? "true", set: [] });
  assert(config !== null && policy !== null, "the preset goal is right by itself");
  const watcher = { onLines: () => undefined, onOutput: () => undefined };
  const plan = { config, policy, stories: [], place: "in-place", agentCommand: null, watcher } as const;
  const engine = await world.host.openEngine(world.cwd, plan);
  let submodules: readonly string[];
  try {
    submodules = await engine.undo(id);
    // The journal must record that the files differ from the tree that was judged.
    await engine.append(id, [{ type: "tree.restored", ...before }]);
  } finally {
    await engine.close();
  }
  for (const path of submodules)
    world.err(`remand: the submodule ${path} is left as it is, and has changes: git -C ${path} status\n`);
  world.out(`the files are as they were before ${id}; every attempt is kept under refs/remand/\n`);
  return EXIT.ok;
}

async function loopToUndo(world: World, run: RunState, options: Options): Promise<StoryId | null> {
  return options.check === undefined ? lastLoop(run) : newestLoopId(loopId(await specOf(world, options)), run);
}

/**
 * The settings that make `name` the developer: an agent of the project's config, with its role file and the variables
 * that agents of the project see; or a client by its own name.
 */
export async function namedAgent(
  checkout: Checkout,
  name: string,
  options: { readonly config?: string | undefined },
): Promise<readonly string[]> {
  const { config } = await loadConfig(checkout, options);
  const agents = config?.agents ?? {};
  const agent = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (config !== null && agent !== undefined && (agent.use !== undefined || agent.command !== undefined)) {
    const usual = join(".claude", "agents", `${name}.md`);
    const hasFile = agent.file !== undefined || (await checkout.files.read(join(checkout.cwd, usual))) !== null;
    const file = hasFile ? { file: agent.file ?? usual } : {};
    // JSON is YAML; with quotes, a command may contain any character.
    return [`agents.developer=${JSON.stringify({ ...agent, ...file })}`, `env=${JSON.stringify(config.env)}`];
  }
  if (isClientProgram(name)) return [`agents.developer.use=${name}`];
  if (config === null)
    throw new RemandError("config-invalid", "the config is wrong, so its agents are not known", "See remand config.");
  const known = [...new Set([...Object.keys(agents), ...CLIENT_PROGRAMS])];
  const meant = nearMiss(name, known);
  const hint = meant === undefined ? `There are ${known.join(", ")}.` : `Did you mean ${meant}?`;
  throw new RemandError("usage", `there is no agent ${name}`, hint);
}
