import { resolve } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import { readRehearsal } from "../../../parse/agent/agent-script.ts";
import { countText } from "../../../stdx/plain-text.ts";
import { problemText } from "../../../write/reports/problem-text.ts";
import { type CliCommand, EXIT, type ExitCode, INTERRUPTED, type World } from "../../../app/command.ts";
import { ProblemsFound } from "../../problems-found.ts";
import { stoppable } from "../../terminal-kind.ts";

const EXAMPLES = `Examples:
  remand rehearse script.yaml -- remand loop --goal "say 42" --check "sh check.sh" --agent claude
  remand rehearse script.yaml -- remand run
  remand rehearse script.yaml -- remand loop --goal "say 42" --check "sh check.sh" --agent codex --set 'agents.developer.args={codexArgs}'

The script says what the model replies, request by request:
  replies:
    - { calls: Write, input: { file_path: answer, content: "42" } }
    - { says: done }

Claude Code, Codex and other clients talk to a model on this machine: no key, no network, no cost.
Exit code: that of the command; 1 where a request had no reply in the script.
`;

export const command: CliCommand = {
  name: "rehearse",
  register(command, world, done) {
    command
      .usage("<script> -- <command…>")
      .argument("<script>", "the file with the model's replies, in YAML or JSON")
      .argument("<command...>", "the command, after --")
      .addHelpText("before", EXAMPLES)
      .action(async (script: string, words: string[]) => done(await rehearse(world, script, words)));
  },
};

async function rehearse(world: World, script: string, words: readonly string[]): Promise<ExitCode> {
  const text = await world.files.read(resolve(world.cwd, script));
  if (text === null)
    throw new RemandError("usage", `there is no file ${script}`, "Give the file with the model's replies.");
  const { parts, problems } = readRehearsal(script, text);
  for (const problem of problems) world.err(`${problemText(problem, world)}\n`);
  if (parts === null) throw new ProblemsFound(problems);
  const { done: report, interrupt } = await stoppable(world, (signal) =>
    world.host.rehearse(world.cwd, {
      parts,
      command: words,
      signal,
      onLine: (line, stream) => (stream === "stdout" ? world.out : world.err)(`${line}\n`),
    }),
  );
  if (interrupt !== null) return INTERRUPTED[interrupt];
  const { exitCode, requests, unexpected, left } = report;
  for (const each of unexpected) world.err(`remand: not in the script: ${each}\n`);
  const unasked = left === 0 ? "" : `, ${countText(left, "reply", "replies")} of the script not asked for`;
  world.err(`remand: rehearsed with ${countText(requests, "request")}${unasked}\n`);
  return unexpected.length > 0 ? EXIT.failed : ((exitCode ?? EXIT.failed) as ExitCode);
}
