import { countText } from "../../../stdx/plain-text.ts";
import { join } from "node:path";
import type { Problem } from "../../../core/events/error.ts";
import { problemText } from "../../../write/reports/problem-text.ts";
import { EXIT, type CliCommand, type ExitCode, type World } from "../../../app/command.ts";
import { loadConfig, shownPath } from "../../../app/load-config.ts";
import { linesOf, withJournal } from "../../../app/with-journal.ts";
import { trailFiles, trailFolder, writeTrail } from "../../../app/trail-files.ts";
import { instant } from "../../../stdx/canonical-json.ts";
import { trailOf } from "../../../views/story/trail.ts";
import { ProblemsFound } from "../../problems-found.ts";
import { tableLines } from "../../table.ts";
import { workflowState, workflowEvents } from "../../../views/story/workflow.ts";
import { writeFailedTasks } from "../../../write/reports/rework-log.ts";

interface Options {
  readonly rebuild?: boolean;
  readonly events?: boolean;
  readonly state?: boolean;
  readonly config?: string;
  readonly json?: boolean;
}

const EXAMPLES = `Examples:
  remand trail                        is the trail what the journal says?
  remand trail --rebuild              write it again from the journal; the same journal gives the same bytes
  remand trail --events               the journal as a coordinator's log: developer_rework_dispatched, workflow_failed …
  remand trail --state                the state of such a coordinator: active_critics, pending_audit, audit_failures …

Exit code: 0 the trail is right, 3 a file is missing or stale: it does not say what the journal says.
`;

export const command: CliCommand = {
  name: "trail",
  register(command, world, done) {
    command
      .option("--rebuild", "write every file again from the journal")
      .option("--events", "print the journal in the names of a coordinator's log, one JSON document a line")
      .option("--state", "print the state that such a coordinator would keep, as one JSON document")
      .option("--json", "print a document of the schema remand.trail/1")
      .addHelpText("before", EXAMPLES)
      .action(async (options: Options) => done(await trail(world, options)));
  },
};

async function trail(world: World, options: Options): Promise<ExitCode> {
  const { config, problems } = await loadConfig(world, { config: options.config });
  if (config === null) return printProblems(world, problems);
  if (options.events === true) return printEvents(world);
  if (options.state === true) return printState(world);
  const folder = trailFolder(world, config);
  const files = await withJournal(world, async (view) => [
    ...trailFiles(await linesOf(view, null), view.state),
    ...(await world.host.receiptFiles(world.cwd)),
  ]);
  const written = options.rebuild === true ? new Set(await writeTrail(world, config)) : new Set<string>();
  const listed: { path: string; state: "right" | "written" | "missing" | "stale" }[] = [];
  for (const [path, text] of files) {
    const there = await world.files.read(join(folder, path));
    const state = written.has(path) ? "written" : there === text ? "right" : there === null ? "missing" : "stale";
    listed.push({ path, state });
  }
  if (options.json === true)
    world.out(`${JSON.stringify({ schema: "remand.trail/1", folder, files: listed }, null, 2)}\n`);
  else {
    const rows = listed.map(({ path, state }) => [
      state === "missing" || state === "stale" ? { text: state, paint: "warn" as const } : state,
      path,
    ]);
    const old = listed.filter(({ state }) => state === "missing" || state === "stale").length;
    const fix = old === 0 ? "" : `; ${old} not as the journal says: remand trail --rebuild writes them again`;
    const lines = tableLines(world, [{ title: "STATE" }, { title: "FILE" }], rows);
    world.out(`${[...lines, `${countText(listed.length, "file")} in ${shownPath(world, folder)}${fix}`].join("\n")}\n`);
  }
  return listed.every(({ state }) => state === "right" || state === "written") ? EXIT.ok : EXIT.rejected;
}

async function printEvents(world: World): Promise<ExitCode> {
  return withJournal(world, async (view) => {
    for (const { event, at, taskId, more } of workflowEvents(await linesOf(view, null))) {
      const task = taskId === null ? {} : { task_id: taskId };
      world.out(`${JSON.stringify({ event, timestamp: instant(at), ...task, ...more })}\n`);
    }
    return EXIT.ok;
  });
}

async function printState(world: World): Promise<ExitCode> {
  return withJournal(world, async (view) => {
    const { failed } = trailOf(await linesOf(view, null), view.state);
    const failedTasks: unknown = JSON.parse(writeFailedTasks(failed));
    world.out(`${JSON.stringify({ ...workflowState(view.state), failed_tasks: failedTasks }, null, 2)}\n`);
    return EXIT.ok;
  });
}

function printProblems(world: World, problems: readonly Problem[]): never {
  for (const problem of problems) world.err(`${problemText(problem, world)}\n`);
  throw new ProblemsFound(problems);
}
