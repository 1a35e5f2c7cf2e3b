import { COST_VIEWS, costRows, costTotal, type CostRow, type CostView } from "../../../views/board/cost.ts";
import { durationText, moneyText, shortLine } from "../../../views/text/words.ts";
import { EXIT, type CliCommand, type World } from "../../../app/command.ts";
import { fieldsHelp, JSON_OPTION, pickFields, pickedFields } from "../../json-fields.ts";
import { type Column, tableLines } from "../../table.ts";
import { linesOf, withJournal } from "../../../app/with-journal.ts";
import { wordOf } from "../../../app/option-values.ts";

interface Options {
  readonly by: string;
  readonly json?: boolean | string;
}

const EXAMPLES = `Examples:
  remand cost                         what each story has cost, and how much of that was for rejected work
  remand cost --by agent              by agent
  remand cost --by cause              first attempts, and reworks by the gate that asked for them
  remand cost --by location --json    the places that were reworked, as a document for programs

A cost that an agent did not report is unknown, never zero: a sum without it is called "at least".
`;

export const command: CliCommand = {
  name: "cost",
  register(command, world, done) {
    command
      .option("--by <view>", `one of ${COST_VIEWS.join(", ")}`, "story")
      .option(JSON_OPTION, "print a document of the schema remand.cost/1, or these fields of its rows")
      .addHelpText("before", EXAMPLES)
      .addHelpText("after", fieldsHelp("cost"))
      .action(async (options: Options) => {
        await cost(world, options);
        done(EXIT.ok);
      });
  },
};

async function cost(world: World, options: Options): Promise<void> {
  const by = wordOf("a view of the cost", options.by, COST_VIEWS);
  const fields = pickedFields("cost", options.json);
  await withJournal(world, async (view) => {
    const rows = costRows(await linesOf(view, null), view.state, by);
    if (fields === false) return world.out(text(world, by, rows));
    const shown = rows.map((row) => pickFields(row, fields));
    const document = fields === null ? { by, total: costTotal(rows), rows: shown } : { by, rows: shown };
    world.out(`${JSON.stringify({ schema: "remand.cost/1", ...document }, null, 2)}\n`);
  });
}

function text(world: World, by: CostView, rows: readonly CostRow[]): string {
  if (rows.length === 0) return "Nothing was spent.\n";
  const columns: readonly Column[] = [
    { title: by.toUpperCase(), least: 14 },
    { title: "SPENT", align: "right" },
    { title: "ON REJECTED WORK", align: "right" },
    { title: "TIME", align: "right", extra: 2 },
    { title: "CALLS", align: "right", extra: 1 },
  ];
  const cells = [...rows, { name: by === "gate" ? "all gates" : "all", ...costTotal(rows) }].map((row) => [
    shortLine(row.name, 60),
    moneyOf(row),
    wasteOf(row),
    row.timeMs === 0 ? "" : durationText(row.timeMs),
    String(row.times),
  ]);
  return `${tableLines(world, columns, cells).join("\n")}\n`;
}

function wasteOf({ wastedUsd, wastedUnknown }: Pick<CostRow, "wastedUsd" | "wastedUnknown">): string {
  if (wastedUsd === 0) return wastedUnknown ? "unknown" : moneyText(0);
  return `${wastedUnknown ? "at least " : ""}${moneyText(wastedUsd)}`;
}

function moneyOf({ costUsd, costUnknown }: Pick<CostRow, "costUsd" | "costUnknown">): string {
  if (costUnknown && costUsd === 0) return "unknown";
  return `${costUnknown ? "at least " : ""}${moneyText(costUsd)}`;
}
