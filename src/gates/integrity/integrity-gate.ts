import { RemandError } from "../../core/events/error.ts";
import { failureFingerprint } from "../../core/gates/finding-identity.ts";
import { type Finding, failsGate, mustBeFixed, worse } from "../../core/gates/finding.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import { DECIDED_BY_RUNS } from "../../core/gates/integrity-rule.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { type Scope, breachOf } from "../../core/stories/scope.ts";
import type { CreateGate } from "../gate-parts.ts";
import { gitFolderOf } from "./file-changes.ts";
import { lookFrom } from "./integrity-looks.ts";
import { type RuleReporter, type RuleSettings, createRuleReporter } from "./integrity-rules.ts";
import {
  type UntrackedState,
  changedSurroundings,
  createStateCache,
  readUntrackedState,
  unimportedFiles,
} from "./untracked-state.ts";

export interface IntegrityOptions {
  readonly workspace: Pick<Workspace, "changedPaths" | "diff" | "fileAt">;
  readonly evidence: Evidence;
  readonly clock: Clock;
  readonly testPaths: readonly string[];
  /** The commands of the checks: a program of the project that they start is a part of what judges. */
  readonly commands?: readonly string[];
  /** Where the stories are: Remand itself writes its notes into a story's file, which is in no scope. */
  readonly stories?: string;
  /** How grave each rule is, where a person says so; `off` leaves it out. */
  readonly rules?: RuleSettings;
  /** Are the base's tests run with the work? Then what was changed in tests is explained here, and decided there. */
  readonly runsBaseTests?: boolean;
}

/**
 * Judges the diff itself, whatever the agent says of it: was anything changed, is it within the scope, were tests taken
 * out of the run or made to prove less, was the runner replaced, was something left behind. New work may rewrite tests;
 * rework may not, unless its scope says that the tests are at fault. Only what changed is read.
 */
export function createIntegrityGate(options: IntegrityOptions): Gate {
  const { clock } = options;
  const remembered = createStateCache();
  return {
    name: "integrity",
    // This gate has no failures at the base: it records the untracked files that decide the checks.
    async baseline({ path }) {
      remembered.keep(path, await readUntrackedState(path, await gitFolderOf(path)));
      return { failing: [], flaky: [] };
    },
    criteria: () => [
      "the diff: something changed, all of it within the scope, no test was deleted, skipped or loosened, the runner and its thresholds are the same, nothing was left behind",
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
        const { findings, changed } = signal.aborted
          ? NOTHING_SEEN
          : await findingsIn(options, request, remembered.at(request.path), signal);
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

export const integrityGate: CreateGate = (
  { gates, scope, stories },
  { workspace, evidence, clock, experimentRunner },
) =>
  createIntegrityGate({
    workspace,
    evidence,
    clock,
    testPaths: scope.testPaths,
    commands: gates.checks.commands.map(({ run }) => run),
    rules: gates.integrity.rules,
    runsBaseTests: experimentRunner !== null,
    stories,
  });

const NOTHING_SEEN = { findings: [], changed: [] };

interface ChangeFindings {
  readonly findings: readonly Finding[];
  readonly changed: readonly string[];
}

/**
 * New work is looked at from where the story began. Rework is looked at from the attempt before as well, and there
 * more strictly: what an earlier attempt added to the tests is kept too.
 */
async function findingsIn(
  options: IntegrityOptions,
  request: GateRequest,
  began: UntrackedState | undefined,
  signal: AbortSignal,
): Promise<ChangeFindings> {
  const { workspace, testPaths, rules = {} } = options;
  const { story, base, previous, tree, scope } = request;
  const sinceLast = await workspace.changedPaths(story.id, previous, tree);
  const isOpen = scope?.tests === "open";
  const given = scope === null ? {} : { reasons: request.exceptions, exceptions: scope.exceptions };
  const decided = options.runsBaseTests === true ? { explaining: DECIDED_BY_RUNS } : {};
  const asNewWork = createRuleReporter({
    isRework: false,
    settings: rules,
    ...decided,
    // Where the tests themselves are at fault, a reason may take one away.
    ...(isOpen ? { ...given, excusable: ["test-deleted", "assertion-removed", "assertion-loosened"] } : {}),
  });
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
  const isInstalled = changed.some((path) => LOCKFILE.test(path));
  const now = began === undefined ? null : await readUntrackedState(request.path, git);
  const outside = now === null ? [] : changedSurroundings(began!, now, isInstalled);
  const findings = outsideOfGit(outside, asNewWork);
  const top = folder === "" ? request.path : request.path.slice(0, -folder.length);
  const submodules = (): Promise<string | null> => workspace.fileAt(story.id, tree, ".gitmodules");
  findings.push(...(await unimportedFiles(top, changed, submodules, asNewWork)));
  if (scope !== null) {
    const asRework = createRuleReporter({ isRework: true, settings: rules, ...given, ...decided });
    const own = `${folder}${options.stories ?? "stories"}/${story.id}.md`;
    // A refused file that is what it was before the story is no change: putting it back is what was asked for.
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

const LOCKFILE =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|uv\.lock|poetry\.lock|Pipfile\.lock|requirements[^/]*\.txt)$/;

/** What an agent changed that is in no change. Dependencies that were brought to another version are not meant. */
function outsideOfGit(changed: readonly string[], book: RuleReporter): Finding[] {
  return changed.slice(0, 10).flatMap((what) =>
    book.report(what.startsWith(".git/") ? "not-looked-at" : "runner-changed", {
      severity: "critical",
      message: what.startsWith(".git/")
        ? `git was told to overlook files while the work was done: ${what}`
        : `what runs the tests was changed where git does not look: ${what}`,
      suggestedFix: "Restore it: install the dependencies again, or remove the line.",
    }),
  );
}

/** The same thing seen from two sides is said once, at its gravest. A reason that counts covers both sides. */
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

/** Changes beyond what the rework may touch. Changes of existing tests are reported by the test rules. */
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
