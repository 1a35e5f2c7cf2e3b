import { counted } from "../../domain/counted.ts";
import type { VerifyDocument } from "../../views/dashboard.ts";
import { EXIT, type CliCommand, type ExitCode, type World } from "../command.ts";
import type { Look } from "../host.ts";
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
    const { ok, position, hash, problem } = await verified(look);
    if (isDocument) {
      const document = ok ? { ok, head: { position, hash } } : { ok, position, problem };
      world.out(`${JSON.stringify({ schema: "remand.verify/1", ...document }, null, 2)}\n`);
    } else if (ok) world.out(`intact: ${counted(position, "line")}, the last is ${hash}\n`);
    else world.out(`not intact: line ${position}: ${problem}\n`);
    return ok ? EXIT.ok : EXIT.rejected;
  });
}

/** Whether every line is what was written, and what is wrong where one is not. */
export async function verified(look: Look): Promise<VerifyDocument> {
  const chain = await look.journal.verify();
  if (!chain.ok) return { ok: false, position: chain.position, problem: chain.problem, hash: null };
  const problem = await problemBesideTheChain(look);
  return { ok: problem === null, ...chain.head, problem };
}

/** What a chain that holds cannot show: an end that was cut off, and a snapshot that says something else. */
async function problemBesideTheChain(look: Look): Promise<string | null> {
  const missing = new Set(await look.notedHeads());
  if (missing.size > 0) for await (const { hash } of look.lines(0)) missing.delete(hash);
  if (missing.size > 0)
    return `a commit notes the head ${[...missing][0]}, which is not there: the end was cut off, or all of it was written anew`;
  if (await look.replays()) return null;
  // An engine has written since: what was folded before and after that cannot be compared.
  const { position } = await look.journal.head();
  return position > look.state.position ? null : "the lines, folded anew, do not give the state of the snapshot";
}
