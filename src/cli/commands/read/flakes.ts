import { timeText } from "../../../views/run/event-text.ts";
import { flakeList, noteFlakes, type Flake } from "../../../views/board/flakes.ts";
import { shortLine } from "../../../views/text/words.ts";
import { EXIT, type CliCommand, type World } from "../../../app/command.ts";
import { fieldsHelp, JSON_OPTION, pickFields, pickedFields } from "../../json-fields.ts";
import { type Cell, type Column, tableLines } from "../../table.ts";

const EXAMPLES = `Examples:
  remand flakes                       tests that passed and failed on the same files, the latest first
  remand flakes --json                as a document for programs
`;

export const command: CliCommand = {
  name: "flakes",
  register(command, world, done) {
    command
      .option(JSON_OPTION, "print a document of the schema remand.flakes/1, or these fields of each")
      .addHelpText("before", EXAMPLES)
      .addHelpText("after", fieldsHelp("flakes"))
      .action(async (options: { readonly json?: boolean | string }) => {
        await flakes(world, pickedFields("flakes", options.json));
        done(EXIT.ok);
      });
  },
};

async function flakes(world: World, fields: readonly string[] | null | false): Promise<void> {
  const known = new Map<string, Flake>();
  const view = await world.host.openView(world.cwd);
  if (view !== null) for await (const line of view.lines(0)) noteFlakes(known, line);
  await view?.close();
  const list = flakeList(known);
  if (fields !== false) {
    const shown = list.map((flake) => pickFields(flakeDocument(flake), fields));
    world.out(`${JSON.stringify({ schema: "remand.flakes/1", flakes: shown }, null, 2)}\n`);
  } else if (list.length === 0) world.out("No flaky test was seen.\n");
  else {
    const rows = list.map((flake) => flakeCells(flake, world.zone));
    world.out(`${tableLines(world, COLUMNS, rows).join("\n")}\n`);
  }
}

const flakeDocument = ({ firstSeenAt, lastSeenAt, ...rest }: Flake) => ({
  ...rest,
  firstSeenAt: new Date(firstSeenAt).toISOString(),
  lastSeenAt: new Date(lastSeenAt).toISOString(),
});

const COLUMNS: readonly Column[] = [
  { title: "TEST", least: 24 },
  { title: "FILE", least: 12, extra: 2 },
  { title: "CHECK", extra: 3 },
  { title: "TIMES", align: "right" },
  { title: "LAST SEEN" },
  { title: "STORIES", least: 10, extra: 1 },
];

const flakeCells = ({ test, file, check, times, lastSeenAt, stories }: Flake, zone: string): readonly Cell[] => [
  { text: shortLine(test, 160), paint: "warn" },
  shortLine(file ?? "", 120),
  shortLine(check ?? "", 60),
  String(times),
  timeText(lastSeenAt, zone),
  shortLine(stories.join(", "), 200),
];
