import { countText } from "../../../stdx/plain-text.ts";
import type { JournalReplacement, VerifyDocument } from "../../../views/board/dashboard.ts";
import { timeText } from "../../../views/run/event-text.ts";
import { EXIT, type CliCommand, type ExitCode, type World } from "../../../app/command.ts";
import type { VerifyProgress } from "../../../app/host.ts";
import { nothingYet } from "../../../app/with-journal.ts";

const EXAMPLES = `Examples:
  remand verify                       was any line of the journal changed, lost or moved?
  remand verify --json                as a document for programs

Checks every line against the chain of hashes, against what commits and the clone's git directory remember of the
journal, and against its snapshot. A journal that took the place of a lost one is never called intact.

Exit code: 0 every line is what was written, 3 not.
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
  const progress = createProgress(world);
  const verified = await world.host.verify(world.cwd, progress.show).finally(progress.clear);
  if (verified === null) throw nothingYet();
  world.out(isDocument ? `${JSON.stringify(documentOf(verified), null, 2)}\n` : `${textOf(verified)}\n`);
  return verified.ok ? EXIT.ok : EXIT.rejected;
}

function documentOf({ ok, position, hash, problem, replaced }: VerifyDocument): object {
  const found = ok ? { head: { position, hash } } : { position, problem };
  return { schema: "remand.verify/1", ok, ...found, ...(replaced === undefined ? {} : { replaced }) };
}

function textOf({ ok, position, hash, problem, replaced }: VerifyDocument): string {
  if (!ok) return `not intact: ${position === 0 ? "" : `line ${position}: `}${problem}`;
  const lines = `${countText(position, "line")}, the last is ${hash}`;
  return replaced === undefined ? `intact: ${lines}` : `replaced: ${lines}\n${replacementText(replaced)}`;
}

function replacementText({ lost, by, at }: JournalReplacement): string {
  const old = lost.id === null ? "a journal" : `the journal ${lost.id.slice(0, 8)}`;
  const kept = lost.kept === null ? "no file is left of it" : `its file is kept as .remand/${lost.kept}`;
  return [
    `It took the place of ${old} at ${timeText(at)}, by ${by}: ${lost.why}`,
    `  What is known of that one: ${countText(lost.position, "line")}, the last was ${lost.hash}; ${kept}.`,
  ].join("\n");
}

/** On a terminal, one line that is drawn again; elsewhere nothing. */
function createProgress(world: World): { show: VerifyProgress; clear(): void } {
  let drawn = false;
  return {
    show: (what, checked, of) => {
      if (!world.terminal) return;
      drawn = true;
      const doing = what === "chain" ? "Checking hashes" : "Folding again";
      world.err(`\r${doing}: ${checked.toLocaleString("en")} of ${of.toLocaleString("en")} lines`);
    },
    clear: () => {
      if (drawn) world.err("\r\u001b[K");
    },
  };
}
