import { EXIT, type CliCommand, type ExitCode, type World } from "../command.ts";
import { looking } from "../looking.ts";

const EXAMPLES = `Examples:
  remand verify                       was any line of the journal changed, lost or put elsewhere?
  remand verify --json                as a document for programs

Exit code: 0 intact, 3 not.
`;

export const command: CliCommand = {
  name: "verify",
  summary: "check the journal: its chain of hashes, and that its events still make sense",
  register(command, world, done) {
    command
      .option("--json", "print a document of the schema remand.verify/1")
      .addHelpText("before", EXAMPLES)
      .action(async (options: { readonly json?: boolean }) => done(await verify(world, options.json === true)));
  },
};

async function verify(world: World, isDocument: boolean): Promise<ExitCode> {
  return looking(world, async (look) => {
    const verified = await look.journal.verify();
    const head = verified.ok ? verified.head : null;
    // What was folded must be in the chain. It may have grown since: an engine may be at work.
    const replayed = head === null || head.position >= look.state.position;
    const ok = verified.ok && replayed;
    const problem = verified.ok
      ? `the chain has ${verified.head.position} lines, ${look.state.position} were read`
      : verified.problem;
    const place = verified.ok ? verified.head.position : verified.position;
    if (isDocument) {
      const document = ok ? { ok, head } : { ok, position: place, problem };
      world.out(`${JSON.stringify({ schema: "remand.verify/1", ...document }, null, 2)}\n`);
    } else if (ok) world.out(`intact: ${head?.position} lines, the last is ${head?.hash}\n`);
    else world.out(`not intact: line ${place}: ${problem}\n`);
    return ok ? EXIT.ok : EXIT.rejected;
  });
}
