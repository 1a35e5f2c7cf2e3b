import { identified, type Finding } from "../../domain/finding.ts";
import type { Severity } from "../../domain/severity.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import type { AddedLine } from "./added-lines.ts";
import type { FilePair } from "./weakened-tests.ts";

export interface RunnerLook {
  /** Every `package.json` that changed. */
  readonly packages: readonly FilePair[];
  readonly changed: readonly string[];
  readonly added: readonly AddedLine[];
  /** The commands by which the work is checked. */
  readonly commands: readonly string[];
  readonly testPaths: readonly string[];
  readonly severity: Severity;
}

/** What changes how tests are run: another script, a config that leaves tests out, another program in the runner's place. */
export function runnerChanges(look: RunnerLook): Finding[] {
  return [...scriptChanges(look), ...exclusions(look), ...replacedPrograms(look)];
}

export const PACKAGE_FILE = /(?:^|\/)package\.json$/;

function scriptChanges({ packages, severity }: RunnerLook): Finding[] {
  return packages.flatMap(({ path, before, after }) => {
    const was = testScripts(before);
    const is = testScripts(after);
    return [...was].flatMap(([name, script]) => {
      // The one that npm writes for a project without tests is there to be replaced.
      if (is.get(name) === script || script.includes("no test specified")) return [];
      const now = is.get(name);
      const message =
        now === undefined
          ? `the script \`${name}\` was taken out`
          : `the script \`${name}\` was changed from \`${short(script)}\` to \`${short(now)}\``;
      return [
        finding(
          path,
          message,
          "Restore the script: the checks must stay what they were when the work began.",
          severity,
        ),
      ];
    });
  });
}

function testScripts(text: string | null): Map<string, string> {
  const found = new Map<string, string>();
  try {
    const { scripts } = JSON.parse(text ?? "{}") as { scripts?: unknown };
    for (const [name, script] of Object.entries(scripts ?? {})) {
      if (/^(?:pre|post)?(?:test|check|verify|ci)(?:[:._-]|$)/.test(name) && typeof script === "string")
        found.set(name, script);
    }
  } catch {
    // A file that is no JSON has no scripts; that it is broken shows when the checks run.
  }
  return found;
}

const RUNNER_CONFIG = [
  "**/{vite,vitest,jest,karma,playwright,cypress,ava,web-test-runner}.config.*",
  "**/vitest.{workspace,projects}.*",
  "**/.mocharc*",
  "**/{pytest.ini,tox.ini,setup.cfg,pyproject.toml,conftest.py,noxfile.py}",
  "**/{Makefile,makefile,justfile,Taskfile.yml,Rakefile}",
  "**/package.json",
];

const LEAVES_OUT =
  /\bexclude\b|IgnorePatterns?\b|\btestIgnore\b|--ignore\b|--deselect\b|\bcollect_ignore|\bnorecursedirs\b|\bpassWithNoTests\b|--pass-with-no-tests\b|\btestNamePattern\b|-k ["']?not |\|\| ?(?:true|:|exit 0)\b|; ?(?:true|exit 0)\s*["']?,?$|\bdangerouslyIgnoreUnhandledErrors\b|--forbid-only=false/;

function exclusions({ added, severity }: RunnerLook): Finding[] {
  return added
    .filter(({ file, text }) => LEAVES_OUT.test(text.slice(0, 1000)) && matchesAnyGlob(file, RUNNER_CONFIG))
    .slice(0, 20)
    .map(({ file, line, text }) =>
      finding(
        file,
        `this may leave tests out, or hide that they fail: ${short(text.trim())}`,
        "Take the line out, unless the story asks for it.",
        severity,
        line,
      ),
    );
}

/** A program of the project that a check starts, and that the attempt changed. Test files are judged as tests. */
function replacedPrograms({ commands, changed, packages, testPaths, severity }: RunnerLook): Finding[] {
  const lines = [...commands, ...packages.flatMap(({ before }) => [...testScripts(before).values()])];
  const programs = new Set(lines.flatMap(programsIn));
  return changed
    .filter((path) => programs.has(path) && !matchesAnyGlob(path, testPaths))
    .map((path) =>
      finding(
        path,
        "this program is a part of what judges the work, and it was changed",
        "Restore it: the checks must stay what they were.",
        severity,
      ),
    );
}

/** Programs that run the file they are given. What they are given is a program too; what `grep` is given is not. */
const RUNNERS =
  /^(?:node|nodejs|bun|deno|tsx|ts-node|npx|python[\d.]*|ruby|perl|php|sh|bash|zsh|env|time|nice|timeout|xvfb-run|exec|run)$/;

/** The files that a line for the shell runs: the first word of each command, and what a runner is told to run. */
function programsIn(line: string): string[] {
  return line.split(/[;&|()\n]+/).flatMap((command) => {
    const words = command.split(/[\s"']+/).filter((word) => word !== "" && !/^\w+=/.test(word));
    const programs: string[] = [];
    for (const word of words) {
      if (word.startsWith("-")) continue;
      programs.push(word.replace(/^\.\//, ""));
      if (!RUNNERS.test(word.slice(word.lastIndexOf("/") + 1))) break;
    }
    return programs;
  });
}

const short = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text);

function finding(file: string, message: string, suggestedFix: string, severity: Severity, line?: number): Finding {
  return identified({
    severity,
    category: "integrity",
    source: "integrity",
    file,
    message,
    suggestedFix,
    ...(line === undefined ? {} : { line }),
  });
}
