import type { Problem } from "../../core/events/error.ts";
import {
  parseAgentScript,
  SCRIPT_KEYS,
  type ScriptedAttempt,
  type ScriptIssue,
  type ScriptPart,
  parseRehearsal,
  type RehearsalPart,
} from "../../core/schemas/agent-script.ts";
import { nearMiss } from "../../stdx/plain-text.ts";
import { readYaml, type YamlPath, type YamlText } from "../data/yaml-text.ts";

/** The script of a scripted agent. */
export interface AgentScript {
  /** The first part that matches is used. */
  readonly parts: readonly ScriptPart[];
}

/**
 * Reads a script from YAML or JSON. A script with any error is not used; every problem is reported with its location.
 */
export function readAgentScript(
  file: string,
  text: string,
): { readonly script: AgentScript | null; readonly problems: readonly Problem[] } {
  const yaml = readYaml(file, text);
  if (yaml.problems.some((problem) => problem.severity === "error")) return { script: null, problems: yaml.problems };
  const problems = [...yaml.problems];
  const complain = (path: YamlPath, message: string, hint: string): void => {
    problems.push({ ...yaml.valuePlace(path), severity: "error", message, hint });
  };
  const read = parseAgentScript(yaml.value);
  if ("issues" in read) {
    return { script: null, problems: [...problems, ...read.issues.map((issue) => issueProblem(issue, yaml))] };
  }
  const { attempts, loop, parts } = read.document;
  if ((attempts === undefined) === (parts === undefined)) {
    complain([], "a script has either `attempts` or `parts`", "Write `attempts:` with what is done on each call.");
    return { script: null, problems };
  }
  if (attempts !== undefined) checkEndings(attempts, ["attempts"], complain);
  for (const [index, part] of (parts ?? []).entries())
    checkEndings(part.attempts, ["parts", index, "attempts"], complain);
  if (problems.some((problem) => problem.severity === "error")) return { script: null, problems };
  return { script: { parts: parts ?? [{ attempts: attempts!, ...(loop === undefined ? {} : { loop }) }] }, problems };
}

/** Converts a duration that passed the schema to milliseconds. */
export function scriptedMs(duration: string | undefined): number {
  const [, amount, unit] = /^([\d.]+)(ms|s|m|h)$/.exec(duration ?? "0ms") ?? [];
  return Math.round(Number(amount ?? 0) * (UNITS_MS[unit ?? "ms"] ?? 1));
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Reports attempts with more than one ending. */
function checkEndings(
  attempts: readonly ScriptedAttempt[],
  at: YamlPath,
  complain: (path: YamlPath, message: string, hint: string) => void,
): void {
  for (const [index, attempt] of attempts.entries()) {
    const endings = [
      ...(attempt.exit === undefined ? [] : ["exit"]),
      ...(attempt.crash === true ? ["crash"] : []),
      ...(attempt.hang === true ? ["hang"] : []),
      ...(attempt.error === undefined ? [] : ["error"]),
    ];
    const path = [...at, index];
    if (endings.length > 1) {
      complain(
        [...path, endings[1]!],
        `an attempt cannot end by both \`${endings[0]}\` and \`${endings[1]}\``,
        "Keep one of them.",
      );
    }
    if (attempt.garbage === true && attempt.say !== undefined) {
      complain([...path, "garbage"], "`garbage` is said instead of `say`", "Keep one of the two.");
    }
  }
}

function issueProblem({ path, unknownKey, expected }: ScriptIssue, yaml: YamlText): Problem {
  if (unknownKey === null) {
    const name = path.length === 0 ? "the script" : `\`${path.join(".")}\``;
    return {
      ...yaml.valuePlace(path),
      severity: "error",
      message: `${name} must be ${expected}`,
      hint: "Correct the value.",
    };
  }
  const meant = nearMiss(unknownKey, SCRIPT_KEYS);
  const hint = meant === undefined ? `Known keys: ${SCRIPT_KEYS.join(", ")}.` : `did you mean "${meant}"?`;
  return {
    ...yaml.keyPlace([...path, unknownKey]),
    severity: "error",
    message: `unknown key "${unknownKey.slice(0, 60)}"`,
    hint,
  };
}

/** Reads the script of `remand rehearse`. A script with any error is not used. */
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
