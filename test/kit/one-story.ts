import { expect } from "vitest";
import type { Command } from "../../src/core/stories/command.ts";
import type { Event } from "../../src/core/events/event.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { Story } from "../../src/core/stories/story.ts";
import { openLedger, type Ledger } from "../../src/engine/ledger.ts";
import { perform } from "../../src/engine/perform/perform.ts";
import type { EngineWorld } from "../../src/engine/world.ts";
import { decide } from "../../src/decide/decide.ts";
import type { AgentControl, AgentRequest, AgentResult, RoleAgent } from "../../src/ports/agent.ts";
import { agentResult } from "../contract/agent-result.ts";
import { newDisk, simulatedWorld, type Disk } from "../simulation/simulated-world.ts";
import { story } from "./story-world.ts";

export type Work = (request: AgentRequest, control: AgentControl) => Promise<AgentResult> | AgentResult;

/** One story in a simulated world, whose agent is the test's own. */
export interface Stage {
  readonly story: Story;
  readonly disk: Disk;
  /** What the engine works in. A test may change it between two steps. */
  world: EngineWorld;
  /** What the agents were asked, in order. */
  readonly requests: AgentRequest[];
  /** What the person who watches has seen. */
  readonly output: string[];
  /** The engine's own, with all that was written. */
  ledger(): Promise<Ledger>;
  events<T extends Event["type"]>(type: T): Promise<Extract<Event, { type: T }>[]>;
  tell(event: Event): Promise<void>;
  /** Does what comes next, and so on, until a command of this type has been done. */
  until(type: Command["type"], signal?: AbortSignal): Promise<void>;
}

export const READY = "Did it.\n\nREADY_FOR_REVIEW: a\n\nSummary: done";

/** An agent that changes a file and is done. */
export function ready(stage: Pick<Stage, "disk" | "story">, more: Partial<AgentResult> = {}): AgentResult {
  edit(stage);
  return agentResult({ text: READY, ...more });
}

export function edit({ disk, story: { id } }: Pick<Stage, "disk" | "story">): void {
  const known = disk.files.get(id) ?? { tree: "t0", kept: ["t0"] };
  disk.files.set(id, { ...known, tree: `${known.tree}+` });
}

export async function createStage(
  policy: Policy,
  work: (stage: Stage) => Work = (stage) => () => ready(stage),
  player: Partial<RoleAgent> = {},
): Promise<Stage> {
  const disk = newDisk();
  const own = story("a");
  const output: string[] = [];
  let opened: Ledger | null = null;
  const requests: AgentRequest[] = [];
  const watcher = { onLines: () => undefined, onOutput: (_command: Command, line: string) => void output.push(line) };
  const base = simulatedWorld(disk, { seed: 1, blocked: false }, () => undefined, watcher);
  const stage: Stage = {
    story: own,
    disk,
    requests,
    output,
    world: {
      ...base,
      roleRegistry: {
        agentFor: async (role) => ({
          agent: {
            name: role,
            run: async (request, control) => {
              requests.push(request);
              return work(stage)(request, control);
            },
          },
          model: null,
          prompt: "",
          reports: "signal",
          env: {},
          ...player,
        }),
      },
    },
    ledger: async () => {
      opened ??= await openLedger(stage.world);
      await opened.catchUp();
      return opened;
    },
    events: async <T extends Event["type"]>(type: T) => {
      const found: Extract<Event, { type: T }>[] = [];
      for await (const { event } of disk.journal.read(0))
        if (event.type === type) found.push(event as Extract<Event, { type: T }>);
      return found;
    },
    tell: async (event) => {
      expect(await (await stage.ledger()).append(own.id, [event])).toBe(true);
    },
    until: (type, signal) => until(stage, type, signal),
  };
  await disk.journal.append(null, 0, [{ type: "policy.set", policy, by: "test" }], 0);
  await disk.journal.append(own.id, 0, [{ type: "story.added", story: own }], 0);
  return stage;
}

async function until(
  stage: Stage,
  type: Command["type"],
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  for (let steps = 0; steps < 30; steps++) {
    const ledger = await stage.ledger();
    const [command] = decide(ledger.state(), ledger.state().policy!, 0);
    if (command === undefined) break;
    await perform(command, ledger, stage.world, signal);
    if (command.type === type) return;
  }
  expect.unreachable(`${type} was never to be done`);
}
