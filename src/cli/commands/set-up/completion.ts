import type { Command } from "commander";
import { EXIT, type CliCommand } from "../../../app/command.ts";
import { wordOf } from "../../../app/option-values.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

const EXAMPLES = `Examples:
  remand completion bash >> ~/.bashrc
  remand completion zsh > ~/.zfunc/_remand          with ~/.zfunc in $fpath
  remand completion fish > ~/.config/fish/completions/remand.fish
`;

export const command: CliCommand = {
  name: "completion",
  isAboutAll: true,
  register(command, world, done) {
    command
      .usage("<shell> [options]")
      .argument("<shell>", SHELLS.join(", "))
      .addHelpText("before", EXAMPLES)
      .action((typed: string) => {
        const shell = wordOf("a shell that is known here", typed, SHELLS);
        world.out(SCRIPTS[shell](wordsOf(command)));
        done(EXIT.ok);
      });
  },
};

interface Flag {
  readonly flag: string;
  readonly summary: string;
}

interface CompletionWords {
  readonly commands: readonly { readonly name: string; readonly summary: string; readonly options: readonly Flag[] }[];
  /** Options that may precede a command. */
  readonly options: readonly Flag[];
}

/** Reads commands and options from the program itself, so that completion cannot get out of date. */
function wordsOf(command: Command): CompletionWords {
  const program = command.parent ?? command;
  return {
    commands: program.commands.map((each) => ({
      name: each.name(),
      summary: each.description(),
      options: flagsOf(each),
    })),
    options: flagsOf(program),
  };
}

const flagsOf = ({ options }: Command): readonly Flag[] =>
  options.flatMap(({ long, description }) => (long == null ? [] : [{ flag: long, summary: description }]));

/** Commands whose arguments are story ids, completed from the file names in the folder `stories`. */
const TAKE_STORIES = "run|status|show|diff|brief|rework|stop|resume|answer|gate";

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const flagWords = (options: readonly Flag[]): string => options.map(({ flag }) => flag).join(" ");
/** zsh takes the text after the first colon as the description. */
const describeWord = (word: string, summary: string): string =>
  quote(`${word.replaceAll(":", "\\:")}:${summary.replaceAll(":", "\\:")}`);
const describedFlags = (options: readonly Flag[]): string =>
  options.map(({ flag, summary }) => describeWord(flag, summary)).join(" ");

const SCRIPTS: { readonly [S in (typeof SHELLS)[number]]: (words: CompletionWords) => string } = {
  bash: ({ commands, options }) => `# bash completion of remand
_remand() {
  local word="\${COMP_WORDS[COMP_CWORD]}" commands=${quote(commands.map(({ name }) => name).join(" "))}
  local options=${quote(flagWords(options))}
  case "\${COMP_WORDS[1]}" in
${commands.map((each) => `    ${each.name}) options=${quote(flagWords(each.options))} ;;`).join("\n")}
  esac
  if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif ((COMP_CWORD == 1)); then COMPREPLY=($(compgen -W "$commands" -- "$word"))
  elif [[ "\${COMP_WORDS[1]}" =~ ^(${TAKE_STORIES})$ ]]; then
    COMPREPLY=($(compgen -W "$(cd stories 2>/dev/null && for file in *.md; do printf '%s ' "\${file%.md}"; done)" -- "$word"))
  else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -F _remand remand
`,
  zsh: ({ commands, options }) => `#compdef remand
# zsh completion of remand
_remand() {
  local -a commands options stories
  commands=(${commands.map(({ name, summary }) => describeWord(name, summary)).join(" ")})
  options=(${describedFlags(options)})
  case "$words[2]" in
${commands.map((each) => `    ${each.name}) options=(${describedFlags(each.options)}) ;;`).join("\n")}
  esac
  if [[ "$PREFIX" == -* ]]; then _describe option options
  elif ((CURRENT == 2)); then _describe command commands
  elif [[ "$words[2]" =~ '^(${TAKE_STORIES})$' ]]; then
    stories=(stories/*.md(N:t:r))
    _describe story stories
  else _files; fi
}
compdef _remand remand
`,
  fish: ({ commands, options }) =>
    [
      "# fish completion of remand",
      ...commands.map(
        ({ name, summary }) => `complete -c remand -n __fish_use_subcommand -f -a ${name} -d ${quote(summary)}`,
      ),
      ...options.map((option) => fishOption("__fish_use_subcommand", option)),
      ...commands.flatMap(({ name, options: own }) =>
        own.map((option) => fishOption(`__fish_seen_subcommand_from ${name}`, option)),
      ),
      `complete -c remand -n '__fish_seen_subcommand_from ${TAKE_STORIES.replaceAll("|", " ")}' -f -a '(for file in stories/*.md; basename $file .md; end)'`,
      "",
    ].join("\n"),
};

const fishOption = (when: string, { flag, summary }: Flag): string =>
  `complete -c remand -n ${quote(when)} -l ${flag.replace(/^--/, "")} -d ${quote(summary)}`;
