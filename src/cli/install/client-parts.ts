import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { RemandError } from "../../core/events/error.ts";
import { CLIENT_PROGRAMS, type ClientProgram } from "../../core/stories/agent-client.ts";
import type { Files } from "../../ports/files.ts";
import { isRecord } from "../../stdx/assert.ts";
import type { JsonAddition } from "../../write/edits/json-edit.ts";
import type { TomlTable } from "../../write/edits/toml-edit.ts";

/** Something that is installed into a project. Paths are relative to the project, with slashes. */
export type SetupPart =
  /** A file that belongs to Remand alone. */
  | { readonly type: "file"; readonly path: string; readonly text: string }
  /** An addition to a file of the user's. */
  | { readonly type: "json"; readonly path: string; readonly additions: readonly JsonAddition[] }
  | { readonly type: "toml"; readonly path: string; readonly table: TomlTable };

/** A setup for each client that has a program of its own, and one for the role files. */
export type SetupName = ClientProgram | "roles";
export const SETUPS: readonly SetupName[] = [...CLIENT_PROGRAMS, "roles"];

/** The plugin that is shipped with Remand, the only source of these files' texts. */
const PLUGIN = fileURLToPath(new URL("../../../plugin/", import.meta.url));

/** Returns the parts that a setup installs where its client looks for them. */
export function partsOf(setup: SetupName, files: Pick<Files, "read" | "list">): Promise<readonly SetupPart[]> {
  return PARTS[setup](files);
}

const PARTS: { readonly [S in SetupName]: (files: Pick<Files, "read" | "list">) => Promise<readonly SetupPart[]> } = {
  claude: claudeParts,
  codex: codexParts,
  roles: roleParts,
};

async function claudeParts(files: Pick<Files, "read">): Promise<readonly SetupPart[]> {
  return [
    { type: "json", path: ".claude/settings.json", additions: await hookEdits(files) },
    { type: "json", path: ".mcp.json", additions: [await serverSpec(files)] },
    {
      type: "file",
      path: ".claude/skills/remand/SKILL.md",
      text: await readPluginFile(files, "skills/remand/SKILL.md"),
    },
    // Outside of a plugin, a command's name has no prefix, so the file's name has one.
    { type: "file", path: ".claude/commands/remand-gate.md", text: await readPluginFile(files, "commands/gate.md") },
    { type: "file", path: ".claude/commands/remand-blame.md", text: await readPluginFile(files, "commands/blame.md") },
  ];
}

async function codexParts(files: Pick<Files, "read">): Promise<readonly SetupPart[]> {
  const { command, args } = await server(files);
  const lines = [`command = ${JSON.stringify(command)}`, `args = ${JSON.stringify(args)}`];
  return [
    { type: "json", path: ".codex/hooks.json", additions: await hookEdits(files) },
    { type: "toml", path: ".codex/config.toml", table: { name: ["mcp_servers", "remand"], lines } },
    {
      type: "file",
      path: ".agents/skills/remand/SKILL.md",
      text: await readPluginFile(files, "skills/remand/SKILL.md"),
    },
  ];
}

async function roleParts(files: Pick<Files, "read" | "list">): Promise<readonly SetupPart[]> {
  const paths = await files.list(join(PLUGIN, "roles"), ".md");
  return Promise.all(
    paths.map(async (path): Promise<SetupPart> => {
      const name = basename(path);
      return { type: "file", path: `.claude/agents/${name}`, text: await readPluginFile(files, `roles/${name}`) };
    }),
  );
}

/** The two hooks. They are recognized by their command, so that an edited hook is not added a second time. */
async function hookEdits(files: Pick<Files, "read">): Promise<readonly JsonAddition[]> {
  const { hooks } = JSON.parse(await readPluginFile(files, "hooks/hooks.json")) as { hooks: Record<string, unknown[]> };
  return Object.entries(hooks).map(([event, groups]): JsonAddition => {
    const words = `remand hook ${event === "Stop" ? "stop" : "start"}`;
    const isOurs = (hook: unknown): boolean =>
      isRecord(hook) && typeof hook["command"] === "string" && hook["command"].includes(words);
    return { path: ["hooks", event], as: "item", value: groups[0], within: "hooks", isOurs };
  });
}

async function serverSpec(files: Pick<Files, "read">): Promise<JsonAddition> {
  const value = await server(files);
  const isOurs = (found: unknown): boolean => JSON.stringify(found).includes("remand mcp");
  return { path: ["mcpServers", "remand"], as: "member", value, isOurs };
}

interface Server {
  readonly command: string;
  readonly args: readonly string[];
}

async function server(files: Pick<Files, "read">): Promise<Server> {
  const { mcpServers } = JSON.parse(await readPluginFile(files, ".mcp.json")) as { mcpServers: { remand: Server } };
  return mcpServers.remand;
}

async function readPluginFile(files: Pick<Files, "read">, name: string): Promise<string> {
  const text = await files.read(join(PLUGIN, name));
  if (text !== null) return text;
  throw new RemandError("file-missing", `the package's file plugin/${name} is missing`, "Install remand again.");
}
