import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import { RemandError } from "../../../src/core/events/error.ts";
import { treeId } from "../../../src/core/events/ids.ts";
import { startBesideWork } from "../../../src/engine/perform/gate.ts";
import { newStory } from "../../../src/fold/new-state.ts";
import type { Gate, GateControl, GateRequest } from "../../../src/ports/gate.ts";
import { story } from "../../kit/story-world.ts";

const PLACE = { path: "/work", branch: "b", tree: treeId("t"), commit: "c", base: "base" };
const KEY = { key: "a:1", signal: new AbortController().signal };
const stateWith = (more: object = {}) => ({ ...newStory(story("a"), 0, 0), policy: presetPolicy("goal"), ...more });

function worldWith(prepare: (request: GateRequest, control: GateControl) => Promise<void>) {
  const gate = { name: "checks", prepare } as unknown as Gate;
  return { gates: new Map([[gate.name, gate]]) };
}

describe("what a gate prepares while an agent works", () => {
  test("is about the base, and is ended with the agent's work", async () => {
    const seen: string[] = [];
    const world = worldWith(async ({ base, commit }, { signal }) => {
      seen.push(`${base} ${commit}`);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      seen.push("ended");
    });
    await startBesideWork(world, stateWith(), PLACE, KEY).end();
    expect(seen).toEqual(["base base", "ended"]);
  });

  test("is not started while the base still runs", async () => {
    let times = 0;
    const world = worldWith(() => Promise.resolve(void times++));
    await startBesideWork(world, stateWith({ openBase: { tree: treeId("t"), commit: "c" } }), PLACE, KEY).end();
    expect(times).toBe(0);
  });

  test("may fail for an outside reason, which the gate itself will find; a bug is thrown", async () => {
    const broken = worldWith(() => Promise.reject(new RemandError("workspace-broken", "no room", "Make room.")));
    await startBesideWork(broken, stateWith(), PLACE, KEY).end();
    const bug = worldWith(() => Promise.reject(new TypeError("bug")));
    const beside = startBesideWork(bug, stateWith(), PLACE, KEY);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await expect(beside.end()).rejects.toThrow("bug");
  });
});
