import { createNodeFiles } from "../../adapters/files/node-files.ts";
import { createLocalQueue } from "../../adapters/queue/local-queue.ts";
import { createStoryPages } from "../../adapters/stories/story-pages.ts";
import type { StopPlan } from "../../app/host-plans.ts";
import { treeId } from "../../core/events/ids.ts";
import type { GateRules, Policy } from "../../core/events/policy.ts";
import { changedRules } from "../../core/gates/gate-report.ts";
import type { GateName, Judgement } from "../../core/gates/gate.ts";
import type { Finding } from "../../core/gates/finding.ts";
import { failureFingerprint } from "../../core/gates/finding-identity.ts";
import { GATE_REGISTRY } from "../../core/gates/registry.ts";
import { faultNameOf } from "../../gates/checks/check-faults.ts";
import { countText } from "../../stdx/plain-text.ts";
import { withoutBase } from "../../engine/gate-request.ts";
import type { EngineWorld } from "../../engine/world.ts";
import { createAdjudicator } from "../../gates/review/adjudicator.ts";
import type { Gate } from "../../ports/gate.ts";
import type { EngineJournal } from "../../ports/journal.ts";
import type { RoleAgent } from "../../ports/agent.ts";
import type { KeptCommit, Workspace } from "../../ports/workspace.ts";
import { redactedRole } from "../agents/roles.ts";
import { createBlameSearch } from "../engine-world.ts";
import { checkVariablesOf } from "./check-variables.ts";
import { NO_WATCHER, type openGates } from "./gate.ts";
import { environmentWith } from "./own-python.ts";

export type OpenedGates = Awaited<ReturnType<typeof openGates>>;

/**
 * What the engine works with inside a client: the files of the checkout, which only the conversation changes, and the
 * conversation as the only agent.
 */
export function hookWorld(
  root: string,
  plan: StopPlan & { readonly before: FailuresBefore; readonly isStartKnown: boolean },
  env: Readonly<Record<string, string | undefined>>,
  opened: OpenedGates,
  journal: EngineJournal,
  conversation: RoleAgent,
): EngineWorld {
  const { config, policy } = plan;
  const { gates, evidence, clock, sandboxes, python, checkouts, reviewers } = opened;
  const { nonce } = reviewers;
  const blameSearch = createBlameSearch(
    config,
    checkouts,
    environmentWith(checkVariablesOf(env, config).seen, python),
    sandboxes,
  );
  const wait = { leftMs: LONGEST_BLAME_MS };
  return {
    root,
    journal,
    clock,
    queue: createLocalQueue({ limits: { ...policy.concurrency, engine: 100 }, clock }),
    workspace: filesAsTheyAre(opened),
    pages: createStoryPages({ root, folder: config.stories, files: createNodeFiles() }),
    evidence,
    outbox: { put: async () => {}, get: async () => null, drop: async () => {} },
    gates: new Map(
      [...gates].map(([name, gate]) => {
        const compared = comparedWithStart(gate, opened, plan, wait);
        return [name, plan.isStartKnown ? compared : withRulesOfThePerson(compared)];
      }),
    ),
    roleRegistry: { agentFor: async () => redactedRole(conversation) },
    adjudicator: createAdjudicator({ roleRegistry: reviewers.roleRegistry, evidence, clock, nonce, checkouts }),
    integration: null,
    forge: null,
    fixLint: null,
    blameSearch: {
      ...blameSearch,
      limits: {
        ...blameSearch.limits,
        // A getter, because the time left is known only after the checks have run.
        get timeMs() {
          return Math.min(blameSearch.limits.timeMs, wait.leftMs);
        },
      },
    },
    watcher: NO_WATCHER,
    nonce,
  };
}

/** Limited because a person waits for the answer. */
const LONGEST_BLAME_MS = 120_000;

/** At least this much more time is spent, however quickly the checks failed. */
const SHORTEST_WAIT_MS = 20_000;

/** The tests that failed when the conversation started, once known. */
export interface FailuresBefore {
  names: readonly string[] | undefined;
}

/**
 * Compares failures with the start of the conversation. The base is not run first, because a person waits: only if the
 * checks fail are they run on the files of the start, once per conversation and for no longer than the failing run
 * took. Tests that failed there too are reported and do not block.
 */
function comparedWithStart(
  { baseline: _slow, ...gate }: Gate,
  { place }: OpenedGates,
  { before, blocksRedBefore, onNotice }: StopPlan & { readonly before: FailuresBefore },
  wait: { leftMs: number },
): Gate {
  const run: Gate["run"] = async (request, control) => {
    const judged = await gate.run(withoutBase(request), control);
    if (!GATE_REGISTRY[gate.name].runsTests || judged.result !== "fail") return judged;
    const limitMs = Math.max(judged.durationMs, SHORTEST_WAIT_MS);
    wait.leftMs = Math.min(LONGEST_BLAME_MS, limitMs);
    if (blocksRedBefore || request.tree === place.base) return judged;
    if (before.names === undefined) {
      const start = { ...request, tree: treeId(place.base), commit: place.base, previous: place.base };
      const signal = AbortSignal.any([control.signal, AbortSignal.timeout(limitMs)]);
      const then = await gate.run(withoutBase(start), { ...control, signal });
      wait.leftMs = Math.max(0, Math.min(LONGEST_BLAME_MS, limitMs - then.durationMs));
      if (then.result === "pass" || then.result === "fail") before.names = then.findings.map(faultNameOf);
      else onNotice(`it is not known which of the failures were there before the conversation: ${then.summary}`);
    }
    return withoutEarlierFailures(judged, new Set(before.names));
  };
  return { ...gate, run };
}

/**
 * Where no SessionStart hook has run, it is not known who changed the project's rules: a `remand.yaml` that was just
 * written must not be taken back by the agent. The change is reported to the person and does not block.
 */
function withRulesOfThePerson(gate: Gate): Gate {
  const run: Gate["run"] = async (request, control) => {
    const judged = await gate.run(request, control);
    const rules = new Set(changedRules(judged).map(({ id }) => id));
    if (rules.size === 0 || judged.result !== "fail") return judged;
    const files = changedRules(judged).flatMap(({ file }) => file ?? []);
    const note = `not known who changed ${files.join(", ")}: let the SessionStart hook run \`remand hook start\``;
    return withInformation(judged, ({ id }) => rules.has(id), { note, line: UNKNOWN_AUTHOR });
  };
  return { ...gate, run };
}

const UNKNOWN_AUTHOR = "It may have been changed before this conversation.";

/** Keeps earlier failures in a judgement as information only. */
function withoutEarlierFailures(judged: Judgement, before: ReadonlySet<string>): Judgement {
  const isEarlier = (finding: Finding): boolean => before.has(faultNameOf(finding));
  const earlier = judged.findings.filter(isEarlier);
  const note = `${countText(earlier.length, "failure")} from before the conversation: ${earlier.map(({ symbol, message }) => symbol ?? message).join(", ")}`;
  return withInformation(judged, isEarlier, { note, line: EARLIER });
}

/** Some findings block no longer; the judgement passes if none is left that does. */
function withInformation(
  judged: Judgement,
  isInformation: (finding: Finding) => boolean,
  { note, line }: { readonly note: string; readonly line: string },
): Judgement {
  const blocking = judged.blocking.filter(
    (id) => !judged.findings.some((each) => each.id === id && isInformation(each)),
  );
  if (blocking.length === judged.blocking.length) return judged;
  const findings = judged.findings.map((each): Finding =>
    isInformation(each) ? { ...each, severity: "info", detail: withLine(line, each.detail) } : each,
  );
  const { failure: _of, ...rest } = judged;
  const left = findings.filter(({ id }) => blocking.includes(id));
  if (left.length > 0) return { ...judged, findings, blocking, failure: failureFingerprint(left, judged.summary) };
  return { ...rest, result: "pass", findings, blocking, notes: [note], summary: `${judged.gate}: pass, with ${note}` };
}

const EARLIER = "It failed before this conversation too, and is not a part of it.";
const withLine = (line: string, text: string | undefined): string => (text === undefined ? line : `${line}\n${text}`);

/** The work is everything since the base. A person may be editing the same files, so none of them is written. */
function filesAsTheyAre({ place, workspace }: OpenedGates): Workspace {
  const { path, tree, commit, base } = place;
  const kept = async (): Promise<KeptCommit> => ({ tree, commit });
  return {
    ...workspace,
    prepare: async () => ({ path, branch: "", tree: treeId(base), commit, base }),
    keep: kept,
    adopt: kept,
    currentState: kept,
    restore: kept,
    restorePaths: kept,
    forget: async () => {},
    dispose: async () => {},
  };
}

/** The policy for use inside a client, where a person watches and chose the agent. */
export function hookPolicy(policy: Policy, gates: readonly GateName[], mayRework: boolean): Policy {
  // A failure without a known cause may go back to the agent that has just worked.
  const inside = (rules: GateRules): GateRules => ({
    ...rules,
    onUnexplained: "send-back",
    blame: rules.blame && mayRework,
  });
  return {
    ...policy,
    // A person who installed the hook has allowed rework by it.
    autonomy: mayRework ? (policy.autonomy === "conservative" ? "standard" : policy.autonomy) : "conservative",
    onExhausted: "manual",
    deliver: "branch",
    scope: { ...policy.scope, outside: "send-back" },
    // A person waits, so a broken gate does not run again, and no agent repairs the machine.
    limits: { ...policy.limits, errors: 1, inconclusives: 1, remediations: 0 },
    phases: [{ phase: "implement", gates }],
    gates: Object.fromEntries(
      Object.entries(policy.gates).map(([name, rules]) => [name, inside(rules)]),
    ) as Policy["gates"],
  };
}
