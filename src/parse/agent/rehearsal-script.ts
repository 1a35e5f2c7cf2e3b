import type { Problem } from "../../core/events/error.ts";
import { parseRehearsal, type RehearsalPart } from "../../core/schemas/rehearsal.ts";
import { readYaml } from "../data/yaml-text.ts";

/** Reads the script of `remand rehearse`. One with a single error is not played. */
export function readRehearsal(
  file: string,
  text: string,
): { readonly parts: readonly RehearsalPart[] | null; readonly problems: readonly Problem[] } {
  const yaml = readYaml(file, text);
  if (yaml.problems.some(({ severity }) => severity === "error")) return { parts: null, problems: yaml.problems };
  const read = parseRehearsal(yaml.value);
  if ("parts" in read) return { parts: read.parts, problems: yaml.problems };
  const problems = read.issues.map(({ path, expected }): Problem => {
    const name = path.length === 0 ? "the script" : `\`${path.join(".")}\``;
    const hint = "docs/guide/rehearse.md lists what a model can reply.";
    return { ...yaml.valuePlace(path), severity: "error", message: `${name} must be ${expected}`, hint };
  });
  return { parts: null, problems: [...yaml.problems, ...problems] };
}
