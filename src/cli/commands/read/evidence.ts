import { RemandError } from "../../../core/events/error.ts";
import { evidenceId } from "../../../core/events/ids.ts";
import { EXIT, type CliCommand, type ExitCode, type World } from "../../../app/command.ts";
import { withJournal } from "../../../app/with-journal.ts";

const EXAMPLES = `Examples:
  remand evidence 9f86d081…             what a gate or an agent printed, whole
  remand evidence 9f86d081… | less

The ids are in remand show --json and in the journal: output is kept under the hash of its text.
`;

export const command: CliCommand = {
  name: "evidence",
  register(command, world, done) {
    command
      .usage("<id> [options]")
      .argument("<id>", "the id of the evidence: 64 hexadecimal digits")
      .option("--json", "print a document of the schema remand.evidence/1")
      .addHelpText("before", EXAMPLES)
      .action(async (id: string, options: { readonly json?: boolean }) =>
        done(await evidence(world, id, options.json === true)),
      );
  },
};

async function evidence(world: World, id: string, isDocument: boolean): Promise<ExitCode> {
  return withJournal(world, async (view) => {
    const text = await view.evidence.read(evidenceId(id));
    if (text === null)
      throw new RemandError(
        "usage",
        `nothing is kept under ${id}`,
        "Give the whole id. What belongs to a fleet is found with --db.",
      );
    world.out(isDocument ? `${JSON.stringify({ schema: "remand.evidence/1", id, text }, null, 2)}\n` : text);
    return EXIT.ok;
  });
}
