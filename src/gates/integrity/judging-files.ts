import type { Finding } from "../../core/gates/finding.ts";
import { type PinnedRules, pinningOf } from "../../core/gates/pinned-files.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import { testScripts } from "../../parse/code/manifests.ts";
import type { FilePair } from "./file-changes.ts";
import type { RuleReporter } from "./integrity-rules.ts";

export interface JudgingLook {
  readonly changed: readonly string[];
  /** Every `package.json` that changed. */
  readonly packages: readonly FilePair[];
  isTest(path: string): boolean;
  /** From the top of the repository to the folder in which the checks run, with a slash at its end. */
  readonly folder: string;
}

/** Changes of what judges the work: the project's rules, and what runs the tests. */
export function judgingFiles(look: JudgingLook, book: RuleReporter): Finding[] {
  return [...ownRules(look, book), ...runnerFiles(look, book), ...scripts(look, book)];
}

/** What says how work is judged here, and whose receipts count, is not a part of the work. */
const OWN_RULES = ["remand.yaml", "remand.yml", "remand.keys"];

function ownRules({ changed, folder }: JudgingLook, book: RuleReporter): Finding[] {
  return changed
    .filter((path) => ["", folder].some((each) => path.startsWith(each) && OWN_RULES.includes(path.slice(each.length))))
    .flatMap((file) =>
      book.report("rules-changed", {
        file,
        message: "this file says how the work is judged, and it was changed",
        suggestedFix:
          "Restore it: a person changes the rules, not the work that is judged by them. In a pull request the approval of its code owner lets the change through.",
      }),
    );
}

const CI_FILES = [
  ".github/{workflows,actions}/**",
  "{.gitlab-ci,azure-pipelines,bitbucket-pipelines,.travis,appveyor}.yml",
  ".circleci/*",
  "Jenkinsfile",
];

/** Files that the run with the base's tests takes from the base, and what CI runs. Tests are told of as tests. */
function runnerFiles({ changed, isTest }: JudgingLook, book: RuleReporter): Finding[] {
  const rules: PinnedRules = { testPaths: [], oracle: [], product: [], named: new Set() };
  return changed
    .filter((path) => !isTest(path))
    .filter((path) => pinningOf(path, rules) === "whole" || matchesAnyGlob(path, CI_FILES))
    .flatMap((file) =>
      book.report("runner-changed", {
        file,
        message: "this file says how tests and checks run, and it was changed",
        suggestedFix: "Restore it, unless the story asks for it.",
      }),
    );
}

function scripts({ packages }: JudgingLook, book: RuleReporter): Finding[] {
  return packages.flatMap(({ path, before, after }) => {
    const is = testScripts(after);
    return [...testScripts(before)].flatMap(([name, script]) => {
      const now = is.get(name);
      if (now === script) return [];
      const message =
        now === undefined
          ? `the script \`${name}\` was taken out`
          : `the script \`${name}\` was changed from \`${short(script)}\` to \`${short(now)}\``;
      return book.report("runner-changed", {
        file: path,
        message,
        suggestedFix: "Restore it, unless the story asks for it.",
      });
    });
  });
}

const short = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text);
