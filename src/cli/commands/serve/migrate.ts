import { plural } from "../../../stdx/plain-text.ts";
import { EXIT, type CliCommand, type ExitCode, type World } from "../../../app/command.ts";
import type { MigratedRoles, MigrationResult } from "../../../app/host-plans.ts";

interface Options {
  readonly to: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  /** `false` for `--no-move`. */
  readonly move?: boolean;
  readonly roles?: string;
}

const EXAMPLES = `Examples:
  remand migrate --to postgres://remand@db.example/remand             move this checkout's journal to a fleet's database
  remand migrate --to postgres://remand@db.example/remand --dry-run   say what would be moved, and whether it can be
  remand migrate --to postgres://…/remand?schema=shop                 into a schema of its own, beside other projects
  remand migrate --to postgres://admin@db.example/remand --no-move    make or update tables and roles, and move nothing
  remand migrate --to postgres://… --no-move --roles acme             with the roles acme_owner, acme_worker, acme_reader

It makes three roles: the owner of the tables, workers that can only append, and readers. Give each login one of them.
Lines keep their hashes, and the chain is checked before and after. It is all or nothing: after an interruption run it
again. A password can stand in PGPASSWORD instead of in the address.
`;

export const command: CliCommand = {
  name: "migrate",
  register(command, world, done) {
    command
      .requiredOption("--to <url>", "the PostgreSQL database: postgres://user:password@host:5432/database")
      .option("--no-move", "only create or update tables and roles; leave the local journal where it is")
      .option("--roles <prefix>", "prefix for the names of the roles (default: by database and schema)")
      .option("--dry-run", "show what would be done, and do nothing")
      .option("--json", "print a document of the schema remand.migrate/1")
      .addHelpText("before", EXAMPLES)
      .action(async (options: Options) => done(await migrate(world, options)));
  },
};

async function migrate(world: World, options: Options): Promise<ExitCode> {
  const { to, dryRun = false, json = false, move = true, roles } = options;
  const migrated = await world.host.migrate(world.cwd, {
    to,
    dryRun,
    noMove: !move,
    ...(roles === undefined ? {} : { roles }),
    onProgress: progressOf(world),
  });
  if (json) world.out(`${JSON.stringify({ schema: "remand.migrate/1", dryRun, ...migrated }, null, 2)}\n`);
  else world.out(`${textOf(migrated, dryRun)}\n`);
  for (const id of migrated.damaged) world.err(`remand: the evidence ${id} was damaged before and was left behind\n`);
  return EXIT.ok;
}

function textOf(migrated: MigrationResult, dryRun: boolean): string {
  return [...movedText(migrated, dryRun), ...rolesText(migrated.roles)].join("\n");
}

function movedText({ to, lines, evidence, outbox, head }: MigrationResult, dryRun: boolean): string[] {
  if (head === null) return [`${dryRun ? "would set up" : "set up"} the tables in ${to}`];
  const what = `${many(lines, "line")}, ${many(evidence, "text")} of evidence and ${many(outbox, "result")} in the outbox`;
  if (dryRun) return [`would move ${what} to ${to}`];
  return [
    `moved ${what} to ${to}`,
    `intact: the last line is ${head.hash}`,
    "From now on: remand worker --db … to work, remand status --db … to see the stories. The file here is marked as moved, and kept.",
  ];
}

function rolesText(report: MigratedRoles): string[] {
  switch (report.state) {
    case "planned":
      return [`would use the roles ${Object.values(report.roles).join(", ")}`];
    case "made":
      return madeText(report);
    case "refused":
      return [
        `no roles: the user ${report.user} may not make them (${report.why}). Everything works with this one user, which can change the journal's lines.`,
        "To separate them, let an administrator run this, and run the same command again:",
        ...report.statements.map((statement) => `  ${statement}`),
      ];
  }
}

function madeText({ roles, created, formerOwner, hasQueue, hasGuard }: MigratedRoles & { state: "made" }): string[] {
  const { owner, worker, reader } = roles;
  return [
    `roles: ${owner} owns the tables, ${worker} appends, ${reader} reads${created.length === 0 ? "" : ` (new: ${created.join(", ")})`}`,
    ...(formerOwner === null
      ? []
      : [
          `${formerOwner} owned the tables until now; it is a member of ${worker} from now on, and can no longer change lines.`,
        ]),
    `A login for workers: CREATE ROLE <name> LOGIN PASSWORD '…' IN ROLE ${worker};`,
    ...(hasGuard
      ? []
      : [
          `Members of ${reader} can still stall appends by statements such as CREATE RULE, which lock a table before rights are checked. Run the same command as a superuser to refuse those to them.`,
        ]),
    ...(hasQueue
      ? []
      : [
          `The tables of the queue were not made: @dbos-inc/dbos-sdk is not installed here, and ${worker} may not make them. Install it and run the same command with --no-move.`,
        ]),
  ];
}

const many = (count: number, noun: string): string => `${count.toLocaleString("en")} ${plural(count, noun)}`;

/** Prints progress at most once per second: the journal of a year takes a while. */
function progressOf(world: World): (what: string, copied: number, of: number) => void {
  let lastNoteAt = world.now();
  return (what, copied, of) => {
    if (world.now() - lastNoteAt < 1000) return;
    lastNoteAt = world.now();
    world.err(`${what}: ${copied.toLocaleString("en")} of ${of.toLocaleString("en")}\n`);
  };
}
