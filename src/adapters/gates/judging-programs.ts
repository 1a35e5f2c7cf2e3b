import type { Finding } from "../../domain/finding.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import type { FileChange, FilePair } from "./file-changes.ts";
import type { RuleBook } from "./rule-book.ts";
import { makeRules, type RunChain } from "./run-chain.ts";

export interface JudgingLook {
  readonly changed: readonly string[];
  readonly changes: readonly FileChange[];
  readonly chain: RunChain;
  /** The makefiles of the chain, in two states. */
  readonly makefiles: readonly FilePair[];
  readonly testPaths: readonly string[];
}

/** Programs of the project that a check starts, or that stand in the way of those that it means to start. */
export function judgingPrograms(look: JudgingLook, book: RuleBook): Finding[] {
  return [...replaced(look, book), ...recipes(look, book), ...shadows(look, book)];
}

/** Test files are judged as tests. */
function replaced({ chain, changed, testPaths }: JudgingLook, book: RuleBook): Finding[] {
  return changed
    .filter((path) => chain.programs.has(path) && !matchesAnyGlob(path, testPaths))
    .flatMap((file) =>
      book.breach("runner-changed", {
        file,
        message: "this program is a part of what judges the work, and it was changed",
        suggestedFix: "Restore it: the checks must stay what they were.",
      }),
    );
}

/** What a target runs that a check asks for. More may be added; other targets are nobody's business here. */
function recipes({ chain, makefiles }: JudgingLook, book: RuleBook): Finding[] {
  return makefiles.flatMap(({ path, before, after }) => {
    const was = makeRules(before ?? "");
    const is = makeRules(after ?? "");
    const gone = [...(chain.targets.get(path) ?? [])].flatMap((name) => {
      const now = new Set(is.get(name)?.recipe);
      return was.get(name)!.recipe.filter((line) => !now.has(line));
    });
    if (gone.length === 0) return [];
    return book.breach("runner-changed", {
      file: path,
      message: `a command that checks the work was taken out or changed: ${gone[0]!.slice(0, 120)}`,
      suggestedFix: "Restore it: the checks must stay what they were when the work began.",
    });
  });
}

/** A file whose name is that of a runner, or that is loaded before it: it runs in the runner's place. */
const SHADOWS =
  /^(?:src\/|tests?\/)?(?:pytest|_pytest|unittest|nose2?|coverage|mypy|sitecustomize|usercustomize)(?:\.py|\/__init__\.py)$/;

/** Make takes the first of these three that it finds. */
const MAKEFILE = /(?:GNUm|m|M)akefile$/;
const comesBefore = (path: string, file: string): boolean =>
  /(?:GNUm|m)akefile$/.test(path) && path !== file && path.replace(MAKEFILE, "") === file.replace(MAKEFILE, "");

function shadows({ changes, chain }: JudgingLook, book: RuleBook): Finding[] {
  const makefiles = [...chain.targets.keys()];
  return changes
    .filter(({ status }) => status === "added")
    .filter(({ path }) => SHADOWS.test(path) || makefiles.some((file) => comesBefore(path, file)))
    .flatMap(({ path }) =>
      book.breach("runner-changed", {
        file: path,
        message: "a file of this name is run in the place of what checks the work",
        suggestedFix: "Take it out, or give it another name.",
      }),
    );
}
