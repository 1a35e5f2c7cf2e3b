import { join } from "node:path";
import { type CliCommand, EXIT, type World } from "../../../app/command.ts";
import { type ImportPlan, planAiSdlcImport } from "../../../app/import-plan.ts";
import { wordOf } from "../../../app/option-values.ts";
import { countText } from "../../../stdx/plain-text.ts";
import { detectProject } from "../../install/detect-project.ts";
import { readerOf } from "../../install/project-tools.ts";

interface Options {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const EXAMPLES = `Examples:
  remand import ai-sdlc --dry-run    what would be written, and what has no counterpart here
  remand import ai-sdlc              copy the stories of .ai-sdlc to stories/, and write remand.yaml

The files of the other tool are read and never changed. What is there already is not written over. A story whose
front matter names a branch goes on with the work on it.
`;

const SOURCES = ["ai-sdlc"] as const;

export const command: CliCommand = {
  name: "import",
  register(command, world, done) {
    command
      .argument("<tool>", `where they come from: ${SOURCES.join(", ")}`)
      .option("--dry-run", "only show what would be written")
      .option("--json", "print a document of the schema remand.import/1")
      .addHelpText("before", EXAMPLES)
      .action(async (tool: string, options: Options) => {
        wordOf("a tool", tool, SOURCES);
        await importFrom(world, options);
        done(EXIT.ok);
      });
  },
};

async function importFrom(world: World, options: Options): Promise<void> {
  const { commands } = await detectProject(readerOf(world));
  const plan = await planAiSdlcImport(world, commands);
  const isDry = options.dryRun === true;
  const written: ImportedFile[] = [];
  for (const { path, from, text, changes } of [...plan.stories, configFile(plan)]) {
    const isThere = (await world.files.read(join(world.cwd, path))) !== null;
    if (!isThere && !isDry) await world.files.write(join(world.cwd, path), text);
    written.push({ path, from, changes, isThere });
  }
  if (options.json === true) {
    const document = { schema: "remand.import/1", dryRun: isDry, files: written, left: plan.left };
    return world.out(`${JSON.stringify(document, null, 2)}\n`);
  }
  world.out(resultText(written, plan, isDry));
  if (!isDry) world.err("remand: next: remand stories, then remand run --dry-run\n");
}

interface ImportedFile {
  readonly path: string;
  readonly from: string;
  readonly changes: readonly string[];
  readonly isThere: boolean;
}

const configFile = ({ config }: ImportPlan) => ({
  path: "remand.yaml",
  from: ".ai-sdlc.json",
  text: config,
  changes: [] as readonly string[],
});

function resultText(files: readonly ImportedFile[], { stories, left }: ImportPlan, isDry: boolean): string {
  const lines = files.map(({ path, from, changes, isThere }) => {
    if (isThere) return `left         ${path}: it is there already`;
    const how = changes.length === 0 ? "" : ` (${changes.join("; ")})`;
    return `${isDry ? "would write" : "wrote      "}  ${path} from ${from}${how}`;
  });
  const rest = left.map((text) => `not taken    ${text}`);
  const counts = [
    countText(stories.length, "story", "stories"),
    countText(left.length, "thing not taken", "things not taken"),
  ];
  return `${[...lines, ...rest, counts.join(" · ")].join("\n")}\n`;
}
