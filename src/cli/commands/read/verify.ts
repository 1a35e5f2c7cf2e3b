import { RemandError } from "../../../core/events/error.ts";
import type { CommitsDocument } from "../../../core/events/receipt.ts";
import { countText } from "../../../stdx/plain-text.ts";
import type { JournalReplacement, VerifyDocument } from "../../../views/board/dashboard.ts";
import { timeText } from "../../../views/run/event-text.ts";
import { commitsText } from "../../../views/story/receipt.ts";
import { EXIT, type CliCommand, type ExitCode, type World } from "../../../app/command.ts";
import type { VerifyProgress } from "../../../app/host-plans.ts";
import { nothingYet } from "../../../app/with-journal.ts";

interface Options {
  readonly json?: boolean;
  readonly require?: boolean;
  readonly all?: boolean;
  readonly keys?: string;
  readonly base?: string;
}

const EXAMPLES = `Examples:
  remand verify                       was anything of this checkout's record changed, lost or moved?
  remand verify remand/letter         does a receipt hold for this commit?
  remand verify main..HEAD --require  must hold for every commit with a trailer of Remand's: for CI
  remand verify v1.0..main --require --all --keys keys.txt

Without a commit: checks every line of the journal against the chain of hashes, against what commits, receipts and
the clone's git directory remember of it, and against its snapshot; then evidence, receipts and accepted branches.
A journal that took the place of a lost one is never called intact.

With a commit or a range: looks at the repository and public keys alone, so it works in any clone that fetched
refs/remand/receipts. A receipt holds for the accepted commit, for the same files, for a merge of it into the base
branch, and for a squash or rebase of it. Keys are those of remand.keys on the base branch, or of --keys.

Exit code: 0 all is what was written or accepted, 3 not. Without --require, a commit without a receipt is only shown.
`;

export const command: CliCommand = {
  name: "verify",
  register(command, world, done) {
    command
      .argument("[commits]", "a commit, a branch or a range")
      .option("--require", "exit with 3 if a commit with a Remand trailer has no receipt")
      .option("--all", "with --require: every commit must have one")
      .option("--keys <file>", "the public keys that count; default: remand.keys on the base branch")
      .option("--base <branch>", "the branch that work is merged into (default: detected)")
      .option("--json", "print a document of the schema remand.verify/1 or remand.verify-commits/1")
      .addHelpText("before", EXAMPLES)
      .action(async (commits: string | undefined, options: Options) =>
        done(await (commits === undefined ? verifyRecord(world, options) : verifyCommits(world, commits, options))),
      );
  },
};

async function verifyCommits(world: World, commits: string, options: Options): Promise<ExitCode> {
  const { json, require = false, all = false, keys = null, base = null } = options;
  if (all && !require) throw new RemandError("usage", "--all needs --require", "Add --require.");
  const wanted = all ? "all" : require ? "trailers" : "none";
  const verified = await world.host.verifyCommits(world.cwd, { commits, require: wanted, keys, base });
  world.out(json === true ? `${JSON.stringify(commitsDocument(verified), null, 2)}\n` : `${commitsText(verified)}\n`);
  return verified.ok ? EXIT.ok : EXIT.rejected;
}

const commitsDocument = (verified: CommitsDocument): object => ({ schema: "remand.verify-commits/1", ...verified });

async function verifyRecord(world: World, options: Options): Promise<ExitCode> {
  const [misplaced] = (["require", "all", "keys", "base"] as const).filter((name) => options[name] !== undefined);
  if (misplaced !== undefined)
    throw new RemandError("usage", `--${misplaced} needs commits`, "Name them: remand verify main..HEAD --require");
  const progress = createProgress(world);
  const verified = await world.host.verify(world.cwd, progress.show).finally(progress.clear);
  if (verified === null) throw nothingYet();
  world.out(
    options.json === true ? `${JSON.stringify(documentOf(verified), null, 2)}\n` : `${textOf(verified, world.zone)}\n`,
  );
  return verified.ok ? EXIT.ok : EXIT.rejected;
}

function documentOf({ ok, position, hash, problem, replaced, ...checked }: VerifyDocument): object {
  const found = ok ? { head: { position, hash } } : { position, problem };
  return { schema: "remand.verify/1", ok, ...found, ...checked, ...(replaced === undefined ? {} : { replaced }) };
}

function textOf(
  { ok, position, hash, problem, more = [], replaced, ...checked }: VerifyDocument,
  zone: string,
): string {
  if (!ok)
    return [`${position === 0 ? "" : `line ${position}: `}${problem}`, ...more]
      .map((each) => `not intact: ${each}`)
      .join("\n");
  const { evidence = 0, receipts = 0 } = checked;
  const beside = [
    ...(evidence === 0 ? [] : [countText(evidence, "piece of evidence", "pieces of evidence")]),
    ...(receipts === 0 ? [] : [countText(receipts, "receipt")]),
  ];
  const lines = [`${countText(position, "line")}, the last is ${hash}`, ...beside].join("; ");
  return replaced === undefined ? `intact: ${lines}` : `replaced: ${lines}\n${replacementText(replaced, zone)}`;
}

function replacementText({ lost, by, at }: JournalReplacement, zone: string): string {
  const old = lost.id === null ? "a journal" : `the journal ${lost.id.slice(0, 8)}`;
  const kept = lost.kept === null ? "no file is left of it" : `its file is kept as .remand/${lost.kept}`;
  return [
    `It took the place of ${old} at ${timeText(at, zone)}, by ${by}: ${lost.why}`,
    `  What is known of that one: ${countText(lost.position, "line")}, the last was ${lost.hash}; ${kept}.`,
  ].join("\n");
}

const DOING = { chain: "Checking hashes", state: "Folding again", evidence: "Checking evidence" } as const;

/** On a terminal, one line that is redrawn; elsewhere nothing. */
function createProgress(world: World): { show: VerifyProgress; clear(): void } {
  let drawn = false;
  return {
    show: (what, checked, of) => {
      if (!world.terminal) return;
      drawn = true;
      const unit = what === "evidence" ? "files" : "lines";
      world.err(`\r${DOING[what]}: ${checked.toLocaleString("en")} of ${of.toLocaleString("en")} ${unit}`);
    },
    clear: () => {
      if (drawn) world.err("\r\u001b[K");
    },
  };
}
