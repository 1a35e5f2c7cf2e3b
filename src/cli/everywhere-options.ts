import { type Command, Option } from "commander";

/** Options that mean the same before the command and after it. A command that declares one itself keeps its own. */
export function addEverywhereOptions(command: Command): void {
  const everywhere = [
    new Option("-C, --directory <folder>", "work as if started in this folder"),
    new Option("--config <file>", "the configuration to use instead of remand.yaml"),
    new Option("--json", "print a document for programs instead of text for people"),
    new Option("--quiet", "print what was asked for and errors, no other messages"),
    new Option("--verbose", "show where an error came from"),
    new Option("--no-input", "ask nothing, even on a terminal"),
    new Option("--utc", "show times in UTC instead of local time"),
    new Option("--color", "color the output, wherever it goes"),
    new Option("--no-color", "do not color the output"),
  ];
  for (const option of everywhere) {
    if (!command.options.some(({ long }) => long === option.long)) command.addOption(option);
  }
}

/** What was typed before the command holds for the command, unless it was typed again after it. */
export function handDown(program: Command, command: Command): void {
  for (const [name, value] of Object.entries(program.opts())) {
    const typedAgain = command.getOptionValueSource(name) === "cli";
    if (!typedAgain && name !== "version") command.setOptionValueWithSource(name, value, "cli");
  }
}
