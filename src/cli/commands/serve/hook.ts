import { dirname, join } from "node:path";
import type { Command } from "commander";
import { RemandError } from "../../../core/events/error.ts";
import { isRecord } from "../../../stdx/assert.ts";
import { problemText } from "../../../write/reports/problem-text.ts";
import { type CliCommand, EXIT, type ExitCode, INTERRUPTED, type Interrupt, type World } from "../../../app/command.ts";
import { type PlannedGates, planGates } from "../../../app/gate-plan.ts";
import { type SessionRecord, type StopAnswer, readSessionRecord } from "../../../app/host-plans.ts";
import { collect } from "../../../app/option-values.ts";
import { rolesOfGate } from "../../../app/agent-spec.ts";
import { GATE_REGISTRY } from "../../../core/gates/registry.ts";
import { countText, plainText } from "../../../stdx/plain-text.ts";

interface Options {
  readonly directory?: string;
  readonly config?: string;
  readonly set?: readonly string[];
  readonly only?: readonly string[];
  readonly json?: boolean;
  readonly blockRedBefore?: boolean;
}

const EXAMPLES = `Examples:
  remand hook start          for the SessionStart hook: what is red already is not held against the agent
  remand hook stop           for the Stop hook of Claude Code or Codex: may the agent stop?
  remand hook status         the status of the conversations that asked

The client writes a JSON document to the input. The gates that need no agent run on the files as they are (others only
with --only). While they fail the answer is {"decision":"block","reason":<brief>}, within the limits of remand.yaml;
after that, and where they pass, the agent may stop, and the person sees which of the two it is.
Exit code of stop: 0 an answer was given, 1 it could not be. Never 2, which would block the agent.
Exit code of status: 0 every conversation passed, 3 not.
`;

/** `remand hook`: the loop inside an agent's own client. */
export const command: CliCommand = {
  name: "hook",
  register(command: Command, world, done) {
    command
      .usage("start | stop | status [options]")
      .argument("<what>", "start, stop: answer that hook; status: the status of the conversations that asked")
      .option("--only <gate>", "run only this gate; can be given again", collect)
      .option("--block-red-before", "stop: also block for tests that failed before the conversation")
      .option("--set <path=value>", "set a value of the config; can be given again", collect)
      .addHelpText("before", EXAMPLES)
      .action(async (what: string, options: Options) => {
        if (what === "start" || what === "stop") return done(await answer(world, what, options));
        if (what === "status") return done(await printSessions(world, options.json === true));
        throw new RemandError("usage", `unknown hook ${what}`, "Use start, stop or status.");
      });
  },
};

async function answer(world: World, what: "start" | "stop", options: Options): Promise<ExitCode> {
  const asked = readRequest(await world.stdin());
  // Other events need no answer. An agent that a run of Remand started is judged by that run, not by its hook.
  if (!EVENTS[what].has(asked.event) || world.env["REMAND_COOKIE"] !== undefined) return printAnswer(world, {});
  const cwd = await projectOf(world, options);
  if (cwd === null) return printAnswer(world, {});
  const plan = await planOf({ cwd, env: world.env, files: world.files }, options, world);
  if (plan === null) return EXIT.failed;
  if (plan.gates.length === 0 && what === "stop")
    return printAnswer(world, { systemMessage: "remand: no gate is configured that can run here" });
  const abort = new AbortController();
  let interrupt: Interrupt | null = null;
  const unhook = world.onInterrupt((signal) => {
    interrupt = signal;
    abort.abort();
  });
  try {
    const answer = await world.host.stop(cwd, {
      ...plan,
      ...(what === "start" ? { gates: [] } : {}),
      session: asked.session,
      isContinuing: asked.isContinuing,
      said: asked.said,
      blocksRedBefore: options.blockRedBefore === true,
      signal: abort.signal,
      onNotice: (text) => world.err(`remand: ${text}\n`),
    });
    return printAnswer(world, documentOf(answer));
  } catch (error) {
    if (interrupt !== null) return INTERRUPTED[interrupt];
    throw error;
  } finally {
    unhook();
  }
}

function printAnswer(world: World, document: object): ExitCode {
  world.out(`${JSON.stringify(document)}\n`);
  return EXIT.ok;
}

/** The answer in the clients' format. An agent that may stop without a pass must not look as if it had passed. */
function documentOf(answer: StopAnswer): object {
  switch (answer.type) {
    case "begun":
      return {};
    case "passed":
      return { systemMessage: `remand: passed: ${answer.why}` };
    case "held":
      return { decision: "block", reason: answer.brief, systemMessage: `remand: sent back: ${answer.why}` };
    case "released":
      return { systemMessage: `remand: NOT PASSED: ${answer.why}` };
  }
}

interface HookRequest {
  readonly event: string;
  readonly session: string;
  readonly isContinuing: boolean;
  readonly said: string;
}

function readRequest(text: string): HookRequest {
  const value = valueOf(text);
  if (!isRecord(value))
    throw new RemandError("input-invalid", "the input is not a hook document", "A client's Stop hook calls this.");
  const word = (key: string): string | null => (typeof value[key] === "string" ? value[key] : null);
  return {
    event: eventIn(word("hook_event_name"), word("source")),
    session: (word("session_id") ?? "unnamed").slice(0, 500),
    isContinuing: value["stop_hook_active"] === true,
    said: (word("last_assistant_message") ?? "").slice(-4000),
  };
}

const EVENTS = { start: new Set(["", "SessionStart"]), stop: new Set(["", "Stop"]) };

/** Compacting continues a conversation; it does not start a new one. */
function eventIn(name: string | null, source: string | null): string {
  return name === "SessionStart" && source === "compact" ? "compact" : (name ?? "");
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Finds the nearest folder with a config, here or above. A project without one has not opted in. */
async function projectOf(world: World, options: Options): Promise<string | null> {
  if (options.config !== undefined) return world.cwd;
  const named = options.directory === undefined ? world.env["CLAUDE_PROJECT_DIR"] : undefined;
  let folder = named === undefined || named === "" ? world.cwd : named;
  for (;;) {
    if ((await world.files.read(join(folder, "remand.yaml"))) !== null) return folder;
    const above = dirname(folder);
    if (above === folder) return null;
    folder = above;
  }
}

/** A broken config does not block the agent, which did not write the config and could not fix it. */
async function planOf(
  checkout: Pick<World, "cwd" | "env" | "files">,
  { config, set, only = [] }: Options,
  world: World,
): Promise<PlannedGates | null> {
  const spec = { names: only, at: null, base: null, all: false, config, set };
  const { plan, problems } = await planGates(checkout, spec);
  for (const problem of problems) world.err(`${problemText(problem, world)}\n`);
  if (plan === null || plan.isNamed) return plan;
  return {
    ...plan,
    gates: plan.gates.filter(
      (gate) => GATE_REGISTRY[gate].runsInStopHook && rolesOfGate(plan.policy, gate).length === 0,
    ),
  };
}

/**
 * Prints the state of each conversation whose agent asked to stop. A client can let its agent stop although Remand sent
 * it back; then the record says `held`, which is not a success.
 */
export async function printSessions(world: World, isJson: boolean): Promise<ExitCode> {
  const sessions: SessionRecord[] = [];
  for (const file of await world.files.list(join(world.cwd, ".remand", "hooks"), ".json")) {
    const record = recordIn(await world.files.read(file));
    if (record === null) world.err(`remand: ${file} is no record of a conversation\n`);
    else sessions.push(record);
  }
  sessions.sort((a, b) => a.at - b.at);
  if (isJson) world.out(`${JSON.stringify({ schema: "remand.hook-status/1", sessions }, null, 2)}\n`);
  else if (sessions.length === 0) world.out("No conversation has asked whether it may stop.\n");
  else for (const each of sessions) world.out(lineOf(each));
  return sessions.every(({ standing }) => standing === "passed" || standing === "begun") ? EXIT.ok : EXIT.rejected;
}

function lineOf({ session, standing, why, blocks }: SessionRecord): string {
  const word = {
    begun: "begun",
    passed: "passed",
    held: "sent back, not passed since",
    released: "released, not passed",
  }[standing];
  return plainText(`${session}  ${word} (held back ${countText(blocks, "time")})  ${why}`).replaceAll("\n", " ") + "\n";
}

function recordIn(text: string | null): SessionRecord | null {
  try {
    return readSessionRecord(JSON.parse(text ?? ""));
  } catch {
    return null;
  }
}
