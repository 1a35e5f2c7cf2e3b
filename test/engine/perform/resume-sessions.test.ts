import { beforeEach, describe, expect, test } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import type { Command } from "../../../src/core/stories/command.ts";
import { roleName } from "../../../src/core/events/ids.ts";
import { openLedger } from "../../../src/engine/ledger.ts";
import { perform } from "../../../src/engine/perform/perform.ts";
import type { EngineWorld } from "../../../src/engine/world.ts";
import { decide } from "../../../src/decide/decide.ts";
import type { AgentRequest, AgentResult } from "../../../src/ports/agent.ts";
import type { GateRequest } from "../../../src/ports/gate.ts";
import { newDisk, simulatedWorld, type Disk } from "../../simulation/simulated-world.ts";
import { judgement, story } from "../../kit/story-world.ts";
import { agentResult } from "../../contract/agent-result.ts";

const STORY = story("a");
const DEVELOPER = roleName("developer");
const CRITIC = roleName("critic");

let disk: Disk;
let requests: AgentRequest[];
let judged: GateRequest[];
let messages: string[];

beforeEach(async () => {
  disk = newDisk();
  requests = [];
  judged = [];
  messages = [];
  const preset = presetPolicy("critic-audit");
  const policy = { ...preset, phases: preset.phases.map((plan) => ({ ...plan, gates: ["review" as const] })) };
  await disk.journal.append(null, 0, [{ type: "policy.set", policy, by: "test" }], 0);
  await disk.journal.append(STORY.id, 0, [{ type: "story.added", story: STORY }], 0);
});

/** A worker of that name. Its agents lead conversations, and its critic never lets anything pass. */
function worker(host?: string): EngineWorld {
  const nobody = { onLines: () => {}, onOutput: () => {} };
  const world = simulatedWorld(disk, { seed: 1, blocked: false }, () => {}, nobody);
  const session = (role: string) => ({ agent: role, id: `${role}-on-${host ?? "this machine"}` });
  return {
    ...world,
    ...(host === undefined ? {} : { host }),
    roleRegistry: {
      agentFor: async (role) => ({
        agent: {
          name: role,
          run: async (request): Promise<AgentResult> => {
            requests.push(request);
            disk.files.set(STORY.id, { tree: `t${requests.length}`, kept: ["t0"] });
            const text = messages.shift() ?? `Did it.\n\nREADY_FOR_REVIEW: a\n\nSummary: part ${requests.length}`;
            return agentResult({ session: request.session ?? session(role), text, tokens: 1, costUsd: 0 });
          },
        },
        model: null,
        prompt: "",
        reports: "signal",
        env: {},
      }),
    },
    gates: new Map([
      [
        "review",
        {
          name: "review",
          criteria: () => [],
          run: async (request) => {
            judged.push(request);
            const led = request.sessions[CRITIC] ?? session(CRITIC);
            return judgement("review", request.tree, "fail", { more: { sessions: { [CRITIC]: led } } });
          },
        },
      ],
    ]),
  };
}

/** Does what is to be done next, and so on, until that was done. */
async function until(world: EngineWorld, type: Command["type"]): Promise<void> {
  for (let steps = 0; steps < 30; steps++) {
    const ledger = await openLedger(world);
    const [command] = decide(ledger.state(), ledger.state().policy!, 0);
    if (command === undefined) break;
    await perform(command, ledger, world, new AbortController().signal);
    if (command.type === type) return;
  }
  expect.unreachable(`${type} was never to be done`);
}

describe("a conversation with an agent", () => {
  test("is resumed on its own machine, and the critic's too", async () => {
    for (const world of [worker("one"), worker("one")]) {
      await until(world, "start-attempt");
      await until(world, "start-gate");
      await until(world, "send-back");
    }
    expect(requests.map(({ session }) => session)).toEqual([
      null,
      { agent: "developer", id: "developer-on-one", host: "one" },
    ]);
    expect(judged[1]!.sessions[CRITIC]).toEqual({ agent: "critic", id: "critic-on-one", host: "one" });
    expect(requests[1]!.prompt).not.toContain("What Was Done Before");
  });

  test("starts again on another machine, with a summary of the conversation", async () => {
    const [one, two] = [worker("one"), worker("two")];
    await until(one, "send-back");
    await until(two, "start-gate");
    expect(requests[1]).toMatchObject({ session: null });
    const { prompt } = requests[1]!;
    expect(prompt.indexOf("## What Was Done Before")).toBe(0);
    expect(prompt).toContain("- Attempt 1 (implement): part 1 -> ");
    expect(prompt).toContain("| READY_FOR_REVIEW: a");
    expect(prompt).toContain("## Rework Assignment");
    // Each role's goes on where it is now.
    expect(judged[1]!.sessions).toMatchObject({ [DEVELOPER]: { host: "two" } });
    expect(judged[1]!.sessions).not.toHaveProperty(CRITIC);
    await until(two, "send-back");
    await until(two, "start-attempt");
    expect(requests[2]!.session).toEqual({ agent: "developer", id: "developer-on-two", host: "two" });
  });

  test("is interrupted if its files are missing, and the attempt starts again", async () => {
    messages = ["What shall I say?"];
    await until(worker("one"), "start-attempt");
    const two = worker("two");
    const elsewhere = { ...two, workspace: { ...two.workspace, isHere: async () => false } };
    await until(elsewhere, "ask-again");
    expect(requests).toHaveLength(1);
    const { attempts } = (await openLedger(two)).story(STORY.id);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(["interrupted"]);
    await until(elsewhere, "start-attempt");
    expect(requests[1]).toMatchObject({ session: null });
  });

  test("of a single machine has no host, and a fleet does not resume it", async () => {
    await until(worker(), "send-back");
    await until(worker(), "start-attempt");
    expect(requests[1]!.session).toEqual({ agent: "developer", id: "developer-on-this machine" });
    await until(worker(), "send-back");
    await until(worker("one"), "start-attempt");
    expect(requests[2]!.session).toBeNull();
  });
});
