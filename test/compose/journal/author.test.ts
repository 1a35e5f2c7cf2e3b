import { describe, expect, test } from "vitest";
import { readPs, type Ancestor } from "../../../src/adapters/process/ancestry.ts";
import { speakerOf, type EngineRecord } from "../../../src/compose/journal/author.ts";
import { authorityRefusal, type EventAuthor } from "../../../src/core/events/authority.ts";
import { ANSWER_VERBS } from "../../../src/core/stories/escalation.ts";
import type { Event } from "../../../src/core/events/event.ts";

const HERE = { boot: "b1", controlGroups: "0::/user.slice/a" };
const ENGINE: EngineRecord = { pid: 50, startedAt: 1000, ...HERE, above: [] };

/** Processes from this one up, each started at the time given; the last is the child of the first of the machine. */
function line(...processes: readonly (readonly [pid: number, startedAt: number, name?: string])[]): Ancestor[] {
  const all = [...processes, [1, 0, "init"] as const];
  return all.map(([pid, startedAt, name = "sh"], i) => {
    const parent = all[i + 1]?.[0] ?? 0;
    return { pid, parent, group: pid, session: pid, startedAt, hasTerminal: false, name };
  });
}

const inTerminal = (chain: readonly Ancestor[]): Ancestor[] => chain.map((each) => ({ ...each, hasTerminal: true }));

describe("who a process speaks for", () => {
  test.each<[string, EventAuthor["type"], readonly Ancestor[], readonly string[], EngineRecord | null]>([
    ["a shell older than the engine", "person", line([90, 2000], [40, 500]), [], ENGINE],
    ["a child of the engine", "agent", line([90, 2000], [60, 1500], [50, 1000], [40, 500]), [], ENGINE],
    ["a process with the engine's number, reused", "person", line([90, 2000], [50, 999], [40, 500]), [], ENGINE],
    ["a mark of any engine", "agent", line([90, 2000], [40, 500]), ["remand-x"], ENGINE],
    ["a mark, with no engine known here", "agent", line([90, 2000], [40, 500]), ["remand-x"], null],
    ["a mark that this journal began below", "person", line([90, 2], [40, 1]), ["x"], { ...ENGINE, above: ["x"] }],
    ["an orphan younger than the engine", "claim", line([90, 2000]), [], ENGINE],
    ["an orphan that a user's systemd adopted", "claim", line([90, 2000], [30, 10, "systemd"]), [], ENGINE],
    ["an orphan in a terminal", "person", inTerminal(line([90, 2000])), [], ENGINE],
    ["an orphan older than the engine", "person", line([90, 900]), [], ENGINE],
    ["a service in its own control group", "person", line([90, 2000]), [], { ...ENGINE, controlGroups: "0::/s" }],
    ["an orphan after a reboot", "person", line([90, 2000]), [], { ...ENGINE, boot: "b0" }],
    ["an orphan where no engine ran", "person", line([90, 2000]), [], null],
    ["the first process of a container", "person", line([90, 2000]).slice(1), [], ENGINE],
    ["where the system tells nothing", "person", [], [], ENGINE],
  ])("%s: %s", (_, expected, chain, marks, engine) => {
    expect(speakerOf(chain, marks, HERE, engine).type).toBe(expected);
  });
});

const says = (verb: (typeof ANSWER_VERBS)[number]): Event => ({
  type: "person.answered",
  answer: { verb, by: "Ada", message: "", escalation: null },
});

test("a claim may stop work and send it back, and lets nothing through", () => {
  const claim: EventAuthor = { type: "claim", why: "it has no terminal" };
  const allowed = ANSWER_VERBS.filter((verb) => authorityRefusal(claim, [says(verb)]) === null);
  expect(allowed).toEqual(["send-back", "dispute", "abandon", "retry", "halt"]);
  expect(authorityRefusal(claim, [{ type: "story.held", by: "Ada" }])).toBeNull();
  expect(authorityRefusal(claim, [{ type: "answer.undone", by: "Ada" }])?.message).toContain("Undoing an answer");
  const agent: EventAuthor = { type: "agent", why: "its parent" };
  for (const verb of ANSWER_VERBS) expect(authorityRefusal(agent, [says(verb)])).not.toBeNull();
  expect(authorityRefusal({ type: "person" }, [says("force-complete")])).toBeNull();
});

test("what ps prints is read, with its times and terminals", () => {
  const text = [
    "    1     0     1 ??       Mon Nov 16 08:00:00 2026 /sbin/launchd",
    "  501     1   501 ttys001  Mon Nov 16 09:15:30 2026 /Applications/Some App.app/run it",
    "garbage",
  ].join("\n");
  const [first, second, ...rest] = readPs(text);
  expect(rest).toEqual([]);
  expect(first).toMatchObject({ pid: 1, parent: 0, hasTerminal: false, name: "/sbin/launchd" });
  expect(second).toMatchObject({ pid: 501, parent: 1, group: 501, hasTerminal: true });
  expect(second!.startedAt - first!.startedAt).toBe(4530);
});
