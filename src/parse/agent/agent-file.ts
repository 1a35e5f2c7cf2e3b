import type { AgentFile } from "../../core/stories/prompt.ts";
import { roleName } from "../../core/events/ids.ts";
import type { Problem } from "../../core/events/error.ts";
import { fieldReader, fileName, readMarkdownFile } from "../data/front-matter.ts";

const KNOWN_KEYS = ["name", "description", "model", "tools", "color"];

/** What a role's name may look like: it becomes a file name and a key in the config. */
const ROLE_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** Reads a role file. Returns an agent only if the file has no errors; keys of other tools are ignored. */
export function readAgentFile(path: string, text: string): { agent: AgentFile | null; problems: Problem[] } {
  const file = readMarkdownFile(path, text);
  const problems = [...file.problems];
  if (file.fields === null) return { agent: null, problems };
  const fields = fieldReader(file.fields, file.yaml, problems);
  fields.unknownKeys(KNOWN_KEYS);
  const name = fields.text("name")?.trim() ?? fileName(path);
  const model = fields.text("model")?.trim();
  const tools = toolNames(fields.texts("tools"));
  const description = fields.text("description")?.trim() ?? "";
  const prompt = file.text.slice(file.bodyStart).trim();
  if (!ROLE_PATTERN.test(name)) {
    fields.complain("name", `"${name.slice(0, 60)}" cannot be a role's name`, "Use letters, digits, `.`, `_` and `-`.");
    return { agent: null, problems };
  }
  if (prompt === "") {
    const hint = "Write below the front matter what this role does and how.";
    problems.push({
      ...file.yaml.keyPlace([]),
      severity: "warning",
      message: `the role "${name}" has no prompt`,
      hint,
    });
  }
  const agent: AgentFile = {
    role: roleName(name),
    description,
    // `inherit` means the model that the client uses by default.
    ...(model === undefined || model === "" || model === "inherit" ? {} : { model }),
    ...(tools === undefined ? {} : { tools }),
    prompt,
    path,
  };
  return { agent, problems };
}

/**
 * Reads names of tools from one text, `Read, Bash(git log:*), Edit`, or from a list. A comma inside brackets belongs to
 * the tool.
 */
function toolNames(texts: readonly string[] | undefined): string[] | undefined {
  if (texts === undefined) return undefined;
  const names: string[] = [];
  for (const text of texts) {
    let depth = 0;
    let name = "";
    for (const char of `${text},`) {
      if (char === "(") depth++;
      if (char === ")") depth--;
      if (char !== "," || depth > 0) name += char;
      else {
        if (name.trim() !== "") names.push(name.trim());
        name = "";
      }
    }
    if (name.trim() !== "") names.push(name.replace(/,$/, "").trim());
  }
  return names;
}
