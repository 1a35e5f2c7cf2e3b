import { RemandError } from "../../../core/events/error.ts";
import { type CliCommand, EXIT, type World } from "../../../app/command.ts";
import { timeText } from "../../../views/run/event-text.ts";

interface Options {
  readonly json?: boolean;
}

const EXAMPLES = `Examples:
  remand token                        make a token and print it; it is shown this once
  remand token rotate                 make another one; the one before stops working
  remand token > ~/.remand-token && chmod 600 ~/.remand-token
  remand answer checkout-retry waive --message "see TICKET-12" --token-file ~/.remand-token

A token tells scripts, CI and the library's callers from agents: pass it as REMAND_TOKEN or by
--token-file, never as an argument. Nothing that an engine starts gets it.
`;

export const command: CliCommand = {
  name: "token",
  register(command, world, done) {
    command
      .usage("[rotate] [options]")
      .argument("[rotate]", "replace the existing token")
      .option("--json", "print a document of the schema remand.token/1")
      .addHelpText("before", EXAMPLES)
      .action(async (word: string | undefined, options: Options) => {
        await printToken(world, word, options);
        done(EXIT.ok);
      });
  },
};

async function printToken(world: World, word: string | undefined, options: Options): Promise<void> {
  if (word !== undefined && word !== "rotate")
    throw new RemandError(
      "usage",
      `unknown subcommand of remand token: "${word}"`,
      "Use remand token, or remand token rotate.",
    );
  const { token, madeAt } = await world.host.makeToken(world.cwd, word === "rotate");
  if (token === null)
    throw new RemandError(
      "usage",
      `There is a token, made ${timeText(madeAt, world.zone)}; only its hash is kept, so it cannot be shown again`,
      "Use the one that you noted, or make another: remand token rotate. The one before stops working.",
    );
  if (options.json === true) world.out(`${JSON.stringify({ schema: "remand.token/1", token, madeAt }, null, 2)}\n`);
  else {
    world.out(`${token}\n`);
    world.err("Note it now: only its hash is kept. Scripts pass it as REMAND_TOKEN or by --token-file.\n");
  }
}
