import { plural } from "../../../stdx/plain-text.ts";
import { EXIT, type CliCommand, type ExitCode, type World } from "../../../app/command.ts";
import type { MigrationResult } from "../../../app/host.ts";

interface Options {
  readonly to: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const EXAMPLES = `Examples:
  remand migrate --to postgres://remand@db.example/remand             move this checkout's journal to a fleet's database
  remand migrate --to postgres://remand@db.example/remand --dry-run   say what would be moved, and whether it can be
  remand migrate --to postgres://…/remand?schema=shop                 into a schema of its own, beside other projects

Lines keep their hashes, and the chain is checked before and after. It is all or nothing: after an interruption run it
again. A password can stand in PGPASSWORD instead of in the address.
`;

export const command: CliCommand = {
  name: "migrate",
  summary: "move this checkout's journal to the database of a fleet",
  register(command, world, done) {
    command
      .requiredOption("--to <url>", "the PostgreSQL database: postgres://user:password@host:5432/database")
      .option("--dry-run", "say what would be moved, and move nothing")
      .option("--json", "print a document of the schema remand.migrate/1")
      .addHelpText("before", EXAMPLES)
      .action(async (options: Options) => done(await migrate(world, options)));
  },
};

async function migrate(world: World, { to, dryRun = false, json = false }: Options): Promise<ExitCode> {
  const migrated = await world.host.migrate(world.cwd, { to, dryRun, onProgress: progressOf(world) });
  if (json) world.out(`${JSON.stringify({ schema: "remand.migrate/1", dryRun, ...migrated }, null, 2)}\n`);
  else world.out(`${textOf(migrated, dryRun)}\n`);
  for (const id of migrated.damaged) world.err(`remand: the evidence ${id} was damaged before and was left behind\n`);
  return EXIT.ok;
}

function textOf({ to, lines, evidence, outbox, head }: MigrationResult, dryRun: boolean): string {
  const what = `${many(lines, "line")}, ${many(evidence, "text")} of evidence and ${many(outbox, "result")} in the outbox`;
  if (dryRun) return `would move ${what} to ${to}`;
  return [
    `moved ${what} to ${to}`,
    `intact: the last line is ${head.hash}`,
    "From now on: remand worker --db … to work, remand status --db … to see the stories. The file here is marked as moved, and kept.",
  ].join("\n");
}

const many = (count: number, noun: string): string => `${count.toLocaleString("en")} ${plural(count, noun)}`;

/** A line at most every second: a journal of a year takes a while. */
function progressOf(world: World): (what: string, copied: number, of: number) => void {
  let told = world.now();
  return (what, copied, of) => {
    if (world.now() - told < 1000) return;
    told = world.now();
    world.err(`${what}: ${copied.toLocaleString("en")} of ${of.toLocaleString("en")}\n`);
  };
}
