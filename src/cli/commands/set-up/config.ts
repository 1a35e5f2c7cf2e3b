import type { SettingOrigin, ResolvedConfig } from "../../../config/resolve.ts";
import { problemText } from "../../../write/reports/problem-text.ts";
import { yamlTree, type PlainTree } from "../../../write/edits/yaml-scalar.ts";
import { EXIT, type CliCommand, type ExitCode, type World } from "../../../app/command.ts";
import { loadConfig } from "../../../app/load-config.ts";

interface Options {
  readonly origin?: boolean;
  readonly json?: boolean;
  readonly config?: string;
  readonly set: readonly string[];
}

const EXAMPLES = `
Examples:
  remand config                                        the effective settings, as YAML
  remand config --origin                               and where each of them comes from
  remand config --set preset=goal --set limits.time=30m    the settings with these values
  remand config --json                                 as a document for programs

Exit code: 0 the config is usable, 2 it is not.
`;

export const command: CliCommand = {
  name: "config",
  register(command, world, done) {
    command
      .description("Shows the effective configuration: flags over remand.yaml over your own file over the preset.")
      .option("--origin", "show where each value comes from")
      .option("--set <path=value>", "set a value for this run; can be given again", collect, [])
      .option("--config <file>", "the project's file, where it is not remand.yaml")
      .option("--json", "print a document of the schema remand.config/1")
      .addHelpText("after", EXAMPLES)
      .action(async (options: Options) => done(await showConfig(world, options)));
  },
};

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

async function showConfig(world: World, options: Options): Promise<ExitCode> {
  const resolved = await loadConfig(world, options);
  if (options.json === true) world.out(`${JSON.stringify(document(resolved, options.origin === true), null, 2)}\n`);
  else {
    for (const problem of resolved.problems) world.err(`${problemText(problem, world)}\n`);
    if (resolved.config !== null) world.out(yaml(resolved, options.origin === true));
  }
  return resolved.config === null ? EXIT.usage : EXIT.ok;
}

function document(resolved: ResolvedConfig, withOrigins: boolean): object {
  const origins = Object.fromEntries(resolved.origins);
  return {
    schema: "remand.config/1",
    config: resolved.config,
    ...(withOrigins ? { origins } : {}),
    problems: resolved.problems,
  };
}

function yaml(resolved: ResolvedConfig, withOrigins: boolean): string {
  const tree = resolved.config as unknown as { readonly [key: string]: PlainTree };
  if (!withOrigins) return yamlTree(tree);
  return yamlTree(tree, (path) => {
    const origin = resolved.origins.get(path.join("."));
    return origin === undefined ? "" : originText(origin);
  });
}

export function originText({ layer, file, line }: SettingOrigin): string {
  switch (layer) {
    case "default":
      return "default";
    case "preset":
    case "autonomy":
      return `${layer} ${file}`;
    case "set":
      return "--set";
    case "project":
    case "user":
      return `${file}:${line}`;
  }
}
