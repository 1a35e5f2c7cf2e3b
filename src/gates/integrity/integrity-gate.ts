import { existsSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { RemandError } from "../../core/events/error.ts";
import { failureFingerprint } from "../../core/gates/finding-identity.ts";
import { type Finding, failsGate, mustBeFixed, worse } from "../../core/gates/finding.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { type Scope, breachOf } from "../../core/stories/scope.ts";
import type { CreateGate } from "../gate-parts.ts";
import { gitFolderOf } from "./file-changes.ts";
import { lookFrom } from "./integrity-looks.ts";
import { type RuleReporter, type RuleSettings, createRuleReporter } from "./integrity-rules.ts";

export interface IntegrityOptions {
  readonly workspace: Pick<Workspace, "changedPaths" | "diff" | "fileAt">;
  readonly evidence: Evidence;
  readonly clock: Clock;
  readonly testPaths: readonly string[];
  /** The folder of stories: Remand writes its notes into a story's file, which is in no scope. */
  readonly stories?: string;
  /** Severities of rules by the config; `off` disables a rule. */
  readonly rules?: RuleSettings;
}

/**
 * Checks the diff itself, whatever the agent reports: whether anything changed, whether all of it is in scope, whether
 * rework changed existing tests, and whether leftovers remain. Whether changed tests still prove something is decided
 * by running the base's tests. New work may rewrite tests; rework may not, unless its scope says that the tests are at
 * fault. Only changed files are read.
 */
export function createIntegrityGate(options: IntegrityOptions): Gate {
  const { clock } = options;
  return {
    name: "integrity",
    criteria: () => [
      "the diff: something changed, all of it within the scope, existing tests kept in rework, no complaint silenced, the rules of the project unchanged, nothing left behind",
    ],
    async run(request, { signal }) {
      const beganAt = clock.now();
      const judgement = (judgement: Omit<Judgement, "gate" | "tree" | "durationMs">): Judgement => ({
        gate: "integrity",
        tree: request.tree,
        durationMs: clock.now() - beganAt,
        ...judgement,
      });
      const noJudgement = (summary: string): Judgement =>
        judgement({ result: "error", findings: [], blocking: [], evidence: [], summary });
      try {
        const { findings, changed } = signal.aborted ? NOTHING_SEEN : await findingsIn(options, request, signal);
        if (signal.aborted) return noJudgement("integrity: stopped before it ended");
        const evidence = await options.evidence.keep(reportOf(changed, findings));
        return judgement({ ...verdict(findings, request), evidence: [evidence] });
      } catch (error) {
        if (!(error instanceof RemandError)) throw error;
        return noJudgement(`integrity: ${error.message} — ${error.hint}`);
      }
    },
  };
}

export const integrityGate: CreateGate = ({ gates, scope, stories }, { workspace, evidence, clock }) =>
  createIntegrityGate({
    workspace,
    evidence,
    clock,
    testPaths: scope.testPaths,
    rules: gates.integrity.rules,
    stories,
  });

const NOTHING_SEEN = { findings: [], changed: [] };

interface ChangeFindings {
  readonly findings: readonly Finding[];
  readonly changed: readonly string[];
}

/**
 * Checks new work from the story's start. Checks rework also from the previous attempt, more strictly: tests that an
 * earlier attempt added must be kept too.
 */
async function findingsIn(
  options: IntegrityOptions,
  request: GateRequest,
  signal: AbortSignal,
): Promise<ChangeFindings> {
  const { workspace, testPaths, rules = {} } = options;
  const { story, base, previous, tree, scope } = request;
  const sinceLast = await workspace.changedPaths(story.id, previous, tree);
  const isOpen = scope?.tests === "open";
  const given = scope === null ? {} : { reasons: request.exceptions, exceptions: scope.exceptions };
  const asNewWork = createRuleReporter({ isRework: false, settings: rules });
  // The stall rule handles a rework that changed nothing; new work must change something.
  if (scope === null && sinceLast.length === 0) {
    const message = "nothing was changed";
    const suggestedFix =
      "Do the work in the files. If nothing has to be done, say so with TASK_INCOMPLETE and the reason.";
    return { findings: asNewWork.report("nothing-changed", { message, suggestedFix }), changed: [] };
  }
  const git = await gitFolderOf(request.path);
  const folder = git?.prefix ?? "";
  const changed = base === previous ? sinceLast : await workspace.changedPaths(story.id, base, tree);
  const top = folder === "" ? request.path : request.path.slice(0, -folder.length);
  const submodules = (): Promise<string | null> => workspace.fileAt(story.id, tree, ".gitmodules");
  const findings = [...(await unimportedFiles(top, changed, submodules, asNewWork))];
  if (scope !== null) {
    const asRework = createRuleReporter({ isRework: true, settings: rules, ...given });
    const own = `${folder}${options.stories ?? "stories"}/${story.id}.md`;
    // A rejected file that is back to its state before the story is no change: that was requested.
    const restored = new Set(scope.restore?.filter((path) => !changed.includes(path)));
    const theirs = sinceLast.filter((path) => path !== own && !restored.has(path));
    findings.push(...scopeBreaches(theirs, scope, testPaths, asRework));
    if (!isOpen) {
      const reworked = sinceLast.filter((path) => !restored.has(path));
      const at = { story: story.id, from: previous, to: tree, changed: reworked, restored, folder, isWhole: false };
      findings.push(...(await lookFrom(options, at, asRework, signal)));
    }
  }
  const at = { story: story.id, from: base, to: tree, changed, folder, isWhole: true };
  findings.push(...(await lookFrom(options, at, asNewWork, signal)));
  return { findings: distinct(findings.filter(({ id }) => !request.overturned.includes(id))), changed: sinceLast };
}

/** Removes duplicate findings of the two comparisons, keeping the most severe. A reason that counts covers both. */
function distinct(findings: readonly Finding[]): Finding[] {
  const kept = new Map<string, Finding>();
  for (const finding of findings.toSorted((a, b) => worse(a.severity, b.severity)))
    if (!kept.has(finding.id)) kept.set(finding.id, finding);
  return [...kept.values()];
}

function verdict(
  findings: readonly Finding[],
  { rules }: GateRequest,
): Pick<Judgement, "result" | "findings" | "blocking" | "summary"> & Partial<Judgement> {
  const blocking = failsGate(findings, rules) ? mustBeFixed(findings, rules) : [];
  if (blocking.length === 0) {
    const summary = findings.length === 0 ? "integrity: pass" : `integrity: pass, ${findings.length} to look at`;
    return { result: "pass", findings, blocking: [], summary };
  }
  const first = blocking[0]!;
  const summary = `integrity: fail (${first.file === undefined ? "" : `${first.file}: `}${first.message}), ${blocking.length} to fix`;
  return {
    result: "fail",
    findings,
    blocking: blocking.map(({ id }) => id),
    summary,
    failure: failureFingerprint(blocking, summary),
  };
}

function reportOf(changed: readonly string[], findings: readonly Finding[]): string {
  const said = findings.map(({ severity, category, file, line, message, detail, suggestedFix }) => {
    const place = file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`}: `;
    const more = [detail, suggestedFix].filter((part) => part !== undefined).map((part) => `\n  ${part}`);
    return `${severity} ${category}: ${place}${message}${more.join("")}`;
  });
  return [
    `files changed by this attempt: ${changed.length}`,
    ...changed.slice(0, 1000).map((path) => `  ${path}`),
    ...(changed.length > 1000 ? [`  and ${changed.length - 1000} more, all of them looked at`] : []),
    "",
    ...(said.length === 0 ? ["nothing to complain of"] : said),
  ].join("\n");
}

/**
 * Returns findings for changes outside of the rework's scope. Changes of existing tests are reported by the test rules.
 */
function scopeBreaches(
  changed: readonly string[],
  scope: Scope,
  testPaths: readonly string[],
  book: RuleReporter,
): Finding[] {
  return changed.flatMap((file) => {
    switch (breachOf(file, scope, testPaths)) {
      case "denied":
        return book.report("scope-denied", {
          file,
          message: "this file must not change in this rework, and it did",
          suggestedFix: "Put it back as it was.",
        });
      case "frozen":
        return book.report("tests-frozen", {
          file,
          message: "no test file may change in this rework, and this one did",
          suggestedFix: "Put it back as it was; take it out if it is new.",
        });
      case "outside":
        return book.report("scope-outside", {
          file,
          message: "this file is outside of what the rework may touch",
          suggestedFix: `Put it back as it was. Allowed: ${scope.allow.slice(0, 10).join(", ")}${scope.allow.length > 10 ? ", …" : ""}.`,
        });
      case null:
        return [];
    }
  });
}

/**
 * Reports files at changed paths that no commit can contain: a nested repository, of which git stores only an id, and a
 * pipe, socket or device, which git treats as deleted. `submodules` reads `.gitmodules`.
 */
async function unimportedFiles(
  top: string,
  changed: readonly string[],
  submodules: () => Promise<string | null>,
  book: RuleReporter,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const path of changed) {
    const what = await lstat(join(top, path)).catch(() => null);
    if (what === null || what.isFile() || what.isSymbolicLink()) continue;
    if (!what.isDirectory()) {
      const kind = what.isFIFO() ? "a named pipe" : what.isSocket() ? "a socket" : "a device";
      findings.push(
        ...book.report("not-looked-at", {
          file: path,
          message: `this is ${kind}, which git cannot keep`,
          suggestedFix: `Remove ${path}, and write a regular file if one is needed there.`,
        }),
      );
    } else if (existsSync(join(top, path, ".git")) && !pathsIn((await submodules()) ?? "").includes(path))
      findings.push(
        ...book.report("not-looked-at", {
          file: path,
          message: "this is a git repository of its own: its files are not in the work",
          suggestedFix: `Remove ${path}/.git, so that its files are kept with the rest, or make ${path} a submodule.`,
        }),
      );
  }
  return findings;
}

const pathsIn = (submodules: string): readonly string[] =>
  [...submodules.matchAll(/^\s*path\s*=\s*"?(.*?)"?\s*$/gm)].map(([, path]) => path!);
