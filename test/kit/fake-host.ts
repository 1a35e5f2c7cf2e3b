import { foldStoryDetails } from "../../src/engine/fold-outlines.ts";
import { createMemoryJournal } from "./memory-journal.ts";
import type { GatePlan, Host, JournalView, EngineSession, Probe, RunPlan, ServePlan } from "../../src/app/host.ts";
import type { JournalTrouble } from "../../src/app/host-plans.ts";
import type { Event } from "../../src/core/events/event.ts";
import { RemandError } from "../../src/core/events/error.ts";
import type { GateReport } from "../../src/core/gates/gate-report.ts";
import { evidenceId, type StoryId } from "../../src/core/events/ids.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import { decide, nextWake } from "../../src/decide/decide.ts";
import { evolve } from "../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../src/fold/new-state.ts";
import type { OutputLine } from "../../src/core/events/output-line.ts";
import type { Evidence, OutputReader } from "../../src/ports/evidence.ts";
import type { StoredEvent } from "../../src/ports/journal.ts";
import type { Workspace } from "../../src/ports/workspace.ts";
import type { VerifyDocument } from "../../src/views/board/dashboard.ts";
import { byText, lookup } from "../../src/stdx/sorted-map.ts";
import type { Script } from "../seeds/scripted-run.ts";
import { outcomesOf } from "./story-world.ts";

export interface FakeHostOptions {
  /** What the world does with a command; without a script everything goes well. */
  readonly script?: Script;
  readonly probes?: readonly Probe[];
  /** Do the checks pass before anything is done? */
  readonly green?: boolean;
  /** Why the checks cannot run here. */
  readonly unusable?: readonly Probe[];
  /** What gates say when they are asked by themselves. */
  readonly gates?: GateReport;
  readonly lockedBy?: string;
  /** Called before each command is performed. */
  onStep?(step: number): void;
  readonly demoRoot?: string;
  /** Is there a browser to open? */
  readonly browser?: boolean;
  /** What verifying the journal says instead of the truth. */
  readonly verified?: VerifyDocument;
  /** What agents and checks printed, by story. */
  readonly output?: Readonly<Record<string, readonly OutputLine[]>>;
  /** What the clone remembers and the journal does not hold. */
  readonly trouble?: JournalTrouble;
}

export interface FakeHost extends Host {
  readonly plans: RunPlan[];
  readonly gatePlans: GatePlan[];
  /** Of dashboards that are served now. */
  readonly servePlans: ServePlan[];
  readonly undone: StoryId[];
  readonly demoFiles: Record<string, string>;
  /** The databases that were asked for instead of the checkout's own journal. */
  readonly dbs: string[];
  /** Everything the journal holds. */
  lines(): Promise<StoredEvent[]>;
  state(): RunState;
  /** Writes events as if a run had done so. */
  write(stream: StoryId | null, ...events: readonly Event[]): Promise<void>;
  keepEvidence(text: string): Promise<string>;
  /** Notifies the watchers of a folder that something in it changed. */
  changeFiles(): void;
}

/** A host whose journal is in memory. State is folded from real events; a script stands in for the world. */
export function fakeHost(options: FakeHostOptions = {}): FakeHost {
  const journal = createMemoryJournal();
  const kept = new Map<string, string>();
  const seqs = new Map<StoryId | null, number>();
  const plans: RunPlan[] = [];
  const gatePlans: GatePlan[] = [];
  const servePlans: ServePlan[] = [];
  const undone: StoryId[] = [];
  const demoFiles: Record<string, string> = {};
  const words = new Set<() => void>();
  const changes = new Set<() => void>();
  let state = EMPTY_RUN;
  let now = Date.UTC(2026, 1, 22, 14, 30);

  const write = async (stream: StoryId | null, events: readonly Event[]): Promise<readonly StoredEvent[]> => {
    now += 1000;
    const appended = await journal.append(stream, seqs.get(stream) ?? 0, events, now);
    if (!appended.ok) throw new Error("a conflict in a test");
    seqs.set(stream, (seqs.get(stream) ?? 0) + events.length);
    for (const line of appended.stored) state = evolve(state, line);
    return appended.stored;
  };
  const evidence: Evidence = {
    keep: (text) => {
      const id = evidenceId(`e${kept.size + 1}`);
      kept.set(id, text);
      return Promise.resolve(id);
    },
    read: (id) => Promise.resolve(kept.get(id) ?? null),
    placeOf: (id) => `/work/.remand/evidence/${id}`,
  };
  const look = (): JournalView => ({
    state,
    folded: { state, position: state.position, seqs: new Map(seqs), odd: new Set(), kept: null },
    journal,
    evidence,
    lines: (after, only) => journal.read(after, only),
    workspace: () => Promise.resolve(FAKE_WORKSPACE),
    close: () => Promise.resolve(),
  });

  const driven = async (plan: RunPlan, signal: AbortSignal): Promise<RunState> => {
    const ours = new Set<StoryId | null>([null, ...plan.stories.map(({ id }) => id)]);
    for (let step = 0; step < 2000 && !signal.aborted; step++) {
      options.onStep?.(step);
      if (signal.aborted) break;
      const command = decide(state, state.policy!, now).find(({ story }) => ours.has(story));
      if (command === undefined) {
        const wake = nextWake(state);
        if (wake === null || wake <= now) break;
        now = wake;
        continue;
      }
      const of = command.story === null ? null : lookup(state.stories, command.story, byText)!;
      const events = options.script?.(command, of, state) ?? outcomesOf(command, of)[0]!.events;
      plan.watcher.onOutput(command, `${command.type} says something`);
      for (const event of events) plan.watcher.onLines(await write(command.story, [event]), state);
    }
    return state;
  };

  const own = async (_root: string, plan: RunPlan): Promise<EngineSession> => {
    if (options.lockedBy !== undefined)
      throw new RemandError("journal-locked", `another remand works here: ${options.lockedBy}`, "Wait for it.");
    plans.push(plan);
    await write(null, [{ type: "policy.set", policy: plan.policy, by: "test" }]);
    for (const story of plan.stories)
      if (lookup(state.stories, story.id, byText) === undefined)
        await write(story.id, [{ type: "story.added", story }]);
    return {
      workspace: FAKE_WORKSPACE,
      evidence,
      state: () => state,
      interrupted: 0,
      drive: (signal) => driven(plan, signal),
      append: async (stream, events) => void (await write(stream, events)),
      registerStories: async (stories) => {
        const fresh = stories.filter(({ id }) => lookup(state.stories, id, byText) === undefined);
        for (const story of fresh) await write(story.id, [{ type: "story.added", story }]);
        plan = { ...plan, stories: [...plan.stories, ...fresh] };
        return fresh.length > 0;
      },
      onMessage: (heard) => {
        words.add(heard);
        return () => words.delete(heard);
      },
      undo: (story) => {
        undone.push(story);
        return Promise.resolve(["vendor/lib"]);
      },
      close: () => Promise.resolve(),
    };
  };

  const dbs: string[] = [];
  const host: FakeHost = {
    plans,
    dbs,
    clean: (text) => text,
    withTokenFile: () => host,
    verifyCommits: () => Promise.reject(new Error("this host has no repository")),
    receiptKeys: () => Promise.reject(new Error("this host has no user")),
    receiptFiles: () => Promise.resolve(new Map()),
    makeToken: () => Promise.resolve({ token: "rmd_made", madeAt: 0 }),
    hide: () => Promise.reject(new Error("this host hides nothing")),
    at: (db) => {
      dbs.push(db);
      return host;
    },
    gatePlans,
    servePlans,
    undone,
    demoFiles,
    readOutline: () => Promise.resolve(state.position === 0 ? null : state),
    readStories: async (_root, of) =>
      state.position === 0
        ? null
        : {
            ...(await foldStoryDetails(journal, of)),
            lines: (id) => journal.read(0, id),
            close: () => Promise.resolve(),
          },
    openView: () => Promise.resolve(state.position === 0 ? null : look()),
    journalTrouble: () => Promise.resolve(options.trouble ?? null),
    output: () => Promise.resolve(fakeOutput(options.output ?? {})),
    verify: async () => {
      if (options.verified !== undefined) return options.verified;
      return state.position === 0 ? null : { ok: true, ...(await journal.head()), problem: null };
    },
    appendEvents: async (_root, stream, events) => {
      await write(stream, events);
      for (const heard of words) heard();
    },
    appendEach: async (_root, streams) => {
      for (const { stream, events } of streams) await write(stream, events);
      for (const heard of words) heard();
    },
    watchFolder: (_folder, changed) => {
      changes.add(changed);
      return () => changes.delete(changed);
    },
    changeFiles: () => {
      for (const changed of changes) changed();
    },
    openEngine: own,
    clone: () => Promise.reject(new Error("this test has no fleet")),
    work: () => Promise.reject(new Error("this test has no fleet")),
    preflight: () =>
      Promise.resolve({
        problems: options.unusable ?? [],
        isGreen: options.green === true,
        summary: "checks: as the test says",
        variables: [],
      }),
    gate: (_root, plan) => {
      gatePlans.push(plan);
      const report = options.gates;
      return report === undefined ? Promise.reject(new Error("this test judges nothing")) : Promise.resolve(report);
    },
    serve: (_root, plan) => {
      servePlans.push(plan);
      const token = "secret";
      return Promise.resolve({
        port: plan.port,
        token,
        url: `http://127.0.0.1:${plan.port}/#token=${token}`,
        open: () => Promise.resolve(options.browser === true),
        close: () => {
          servePlans.pop();
          return Promise.resolve();
        },
      });
    },
    blame: () => Promise.reject(new Error("this test blames nothing")),
    stop: () => Promise.reject(new Error("this test stops nobody")),
    offer: () => Promise.reject(new Error("this test offers nothing")),
    rehearse: () => Promise.reject(new Error("this test rehearses nothing")),
    migrate: () => Promise.reject(new Error("this test moves nothing")),
    probe: () => Promise.resolve(options.probes ?? []),
    userName: () => Promise.resolve(null),
    demoRepository: (files) => {
      Object.assign(demoFiles, files);
      return Promise.resolve(options.demoRoot ?? "/demo");
    },
    lines: async () => {
      const all: StoredEvent[] = [];
      for await (const line of journal.read(0)) all.push(line);
      return all;
    },
    state: () => state,
    write: async (stream, ...events) => void (await write(stream, events)),
    keepEvidence: async (text) => evidence.keep(text),
  };
  return host;
}

function fakeOutput(lines: Readonly<Record<string, readonly OutputLine[]>>): OutputReader {
  const of = (story: StoryId): readonly OutputLine[] => lines[story] ?? [];
  return {
    read: (story, after) =>
      Promise.resolve({
        lines: of(story).slice(after?.offset ?? 0),
        place: { file: 1, offset: of(story).length },
        hasMore: false,
      }),
    lastPlace: (story) => Promise.resolve(of(story).length === 0 ? null : { file: 1, offset: 0 }),
    lastLine: (story) => Promise.resolve(of(story).at(-1) ?? null),
  };
}

const unused = (): Promise<never> => Promise.reject(new Error("not in this test"));

/** Only reads: what a command may ask of a place it does not own. */
const FAKE_WORKSPACE: Workspace = {
  prepare: unused,
  keep: unused,
  adopt: unused,
  currentState: unused,
  restore: unused,
  restorePaths: unused,
  dispose: unused,
  forget: unused,
  changedPaths: () => Promise.resolve([]),
  diff: (story, from, to) => Promise.resolve(`diff of ${story} from ${from} to ${to}\n`),
  fileAt: () => Promise.resolve(null),
};
