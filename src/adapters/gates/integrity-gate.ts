import { RemandError } from "../../domain/error.ts";
import { failureFingerprint, identified, type Finding } from "../../domain/finding.ts";
import type { Judgement } from "../../domain/gate.ts";
import type { GateRules } from "../../domain/policy.ts";
import { atLeast, SEVERITIES, worse } from "../../domain/severity.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import { addedLines } from "./added-lines.ts";
import { leftBehind } from "./left-behind.ts";
import { PACKAGE_FILE, runnerChanges } from "./runner-changes.ts";
import { weakenedTests, type FilePair, type Keeping } from "./weakened-tests.ts";

export interface IntegrityOptions {
  readonly workspace: Pick<Workspace, "changed" | "diff" | "fileAt">;
  readonly evidence: Evidence;
  readonly clock: Clock;
  readonly testPaths: readonly string[];
  /** The commands of the checks: a program of the project that they start is a part of what judges. */
  readonly commands?: readonly string[];
}

/**
 * Judges the diff itself, whatever the agent says of it: was anything changed, were tests taken out of the run, was
 * the runner replaced, was something left behind. New work may rewrite tests; rework may not, unless its scope says
 * that the tests are at fault.
 */
export function createIntegrityGate(options: IntegrityOptions): Gate {
  const { clock } = options;
  return {
    name: "integrity",
    judgedBy: () => [
      "the diff: something changed, no test was deleted, skipped or loosened, the runner is the same, nothing was left behind",
    ],
    async judge(request, { signal }) {
      const beganAt = clock.now();
      const done = (judgement: Omit<Judgement, "gate" | "tree" | "durationMs">): Judgement => ({
        gate: "integrity",
        tree: request.tree,
        durationMs: clock.now() - beganAt,
        ...judgement,
      });
      const unjudged = (summary: string): Judgement =>
        done({ result: "error", findings: [], blocking: [], evidence: [], summary });
      try {
        const { findings, changed } = signal.aborted ? NOTHING_SEEN : await findingsIn(options, request);
        if (signal.aborted) return unjudged("integrity: stopped before it ended");
        const evidence = await options.evidence.keep(reportOf(changed, findings));
        return done({ ...verdict(findings, request), evidence: [evidence] });
      } catch (error) {
        if (!(error instanceof RemandError)) throw error;
        return unjudged(`integrity: ${error.message} — ${error.hint}`);
      }
    },
  };
}

const NOTHING_SEEN = { findings: [], changed: [] };

interface Seen {
  readonly findings: readonly Finding[];
  readonly changed: readonly string[];
}

async function findingsIn(
  { workspace, testPaths, commands = [] }: IntegrityOptions,
  request: GateRequest,
): Promise<Seen> {
  const { story, base, previous, tree, scope } = request;
  const sinceLast = await workspace.changed(story.id, previous, tree);
  // A rework that changed nothing is told by the stall rule; new work that changed nothing is no work.
  if (scope === null && sinceLast.length === 0) return { findings: [nothingChanged()], changed: [] };
  const isRework = scope !== null && scope.tests !== "open";
  const looks: readonly { from: string; keeping: Keeping }[] = [
    ...(isRework ? [{ from: previous, keeping: { severity: "blocker", strict: true } as const }] : []),
    { from: base, keeping: { severity: "major", strict: false } },
  ];
  const findings: Finding[] = [];
  for (const { from, keeping } of looks) {
    const changed = from === previous ? sinceLast : await workspace.changed(story.id, from, tree);
    const pairs = (paths: readonly string[]): Promise<FilePair[]> => readPairs(workspace, request, from, paths);
    const tests = await pairs(changed.filter((path) => matchesAnyGlob(path, testPaths)));
    // The project's own is read in any case: its scripts name the programs that run the tests.
    const packages = await pairs([...new Set(["package.json", ...changed.filter((path) => PACKAGE_FILE.test(path))])]);
    const added = [...addedLines(await workspace.diff(story.id, from, tree))];
    findings.push(
      ...weakenedTests(tests, keeping),
      ...runnerChanges({ packages, changed, added, commands, testPaths, severity: keeping.severity }),
    );
    if (from === base) findings.push(...leftBehind(added, testPaths));
  }
  return { findings: distinct(findings.filter(({ id }) => !request.overturned.includes(id))), changed: sinceLast };
}

/** Each costs a look into the history; a change of more test files than this is not an agent's. */
const MOST_FILES = 2000;

async function readPairs(
  workspace: IntegrityOptions["workspace"],
  { story, tree }: GateRequest,
  from: string,
  paths: readonly string[],
): Promise<FilePair[]> {
  const pairs: FilePair[] = [];
  for (const path of paths.slice(0, MOST_FILES)) {
    const before = await workspace.fileAt(story.id, from, path);
    pairs.push({ path, before, after: await workspace.fileAt(story.id, tree, path) });
  }
  return pairs;
}

function nothingChanged(): Finding {
  const message = "nothing was changed";
  const suggestedFix =
    "Do the work in the files. If nothing has to be done, say so with TASK_INCOMPLETE and the reason.";
  return identified({ severity: "blocker", category: "integrity", source: "integrity", message, suggestedFix });
}

/** The same thing seen from two sides is said once, at its gravest. */
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
  const blocking = blockingOf(findings, rules);
  if (blocking.length === 0) {
    const summary = findings.length === 0 ? "integrity: pass" : `integrity: pass, ${findings.length} to look at`;
    return { result: "pass", findings, blocking: [], summary };
  }
  const summary = `integrity: fail (${blocking[0]!.file === undefined ? "" : `${blocking[0]!.file}: `}${blocking[0]!.message}), ${blocking.length} to fix`;
  return {
    result: "fail",
    findings,
    blocking: blocking.map(({ id }) => id),
    summary,
    failure: failureFingerprint(blocking, summary),
  };
}

/** Those at or above the lightest severity that has a threshold, if any threshold is reached. */
function blockingOf(findings: readonly Finding[], { failOn, everyFinding }: GateRules): Finding[] {
  if (everyFinding) return findings.filter(({ severity }) => severity !== "info");
  const reached = SEVERITIES.some(
    (floor) => findings.filter(({ severity }) => atLeast(severity, floor)).length >= (failOn[floor] ?? Infinity),
  );
  const lightest = SEVERITIES.findLast((severity) => failOn[severity] !== undefined);
  return reached && lightest !== undefined ? findings.filter(({ severity }) => atLeast(severity, lightest)) : [];
}

function reportOf(changed: readonly string[], findings: readonly Finding[]): string {
  const said = findings.map(({ severity, file, line, message, suggestedFix }) => {
    const place = file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`}: `;
    return `${severity}: ${place}${message}\n  ${suggestedFix ?? ""}`;
  });
  return [
    `files changed by this attempt: ${changed.length}`,
    ...changed.slice(0, 1000).map((path) => `  ${path}`),
    "",
    ...(said.length === 0 ? ["nothing to complain of"] : said),
  ].join("\n");
}
