import { RemandError } from "../../../core/events/error.ts";
import type { ReceiptKey } from "../../../core/events/receipt.ts";
import { receiptKeyLine } from "../../../parse/data/receipt-keys.ts";
import { type CliCommand, EXIT, type World } from "../../../app/command.ts";

interface Options {
  readonly json?: boolean;
}

const EXAMPLES = `Examples:
  remand key show                     your public keys, as lines of remand.keys; the last one signs
  remand key show >> remand.keys      list them in a project; commit the file on the branch that work is merged into
  remand key rotate                   make a new key; what the one before signed still counts
  remand key show --json              as a document for programs

Receipts are signed with a key in your state folder (~/.local/state/remand/receipt-key.json, mode 0600), made at
first use. Agents in a sandbox cannot read it. If it was stolen, rotate it and delete its line from remand.keys:
a line with "to" still lets through what claims to be older.
`;

export const command: CliCommand = {
  name: "key",
  register(command, world, done) {
    command
      .usage("show|rotate [options]")
      .argument("<show|rotate>", "show the public keys, or make a new key first")
      .option("--json", "print a document of the schema remand.key/1")
      .addHelpText("before", EXAMPLES)
      .action(async (word: string, options: Options) => {
        await printKeys(world, word, options);
        done(EXIT.ok);
      });
  },
};

async function printKeys(world: World, word: string, options: Options): Promise<void> {
  if (word !== "show" && word !== "rotate")
    throw new RemandError(
      "usage",
      `unknown subcommand of remand key: "${word}"`,
      "Use remand key show, or remand key rotate.",
    );
  const keys = await world.host.receiptKeys(world.cwd, word === "rotate");
  if (options.json === true)
    world.out(`${JSON.stringify({ schema: "remand.key/1", keys: keys.map(documentOf) }, null, 2)}\n`);
  else {
    for (const key of keys) world.out(`${receiptKeyLine(key)}\n`);
    if (word === "rotate")
      world.err("A new key signs from now on. Add its line to remand.keys, and the end of the one before.\n");
  }
}

const documentOf = ({ id, publicKey, from, to }: ReceiptKey): object => ({
  id,
  publicKey,
  from: from === undefined ? null : new Date(from).toISOString(),
  to: to === undefined ? null : new Date(to).toISOString(),
});
