import { describe, expect, test } from "vitest";
import { readPs, type Ancestor } from "../../../src/adapters/process/ancestry.ts";
import { speakerOf, type SpeakerFacts } from "../../../src/compose/journal/author.ts";
import type { EngineRecord } from "../../../src/compose/journal/engine-record.ts";
import type { EventAuthor } from "../../../src/core/events/authority.ts";

const ENGINE: EngineRecord = {
  pid: 50,
  startedAt: 1000,
  boot: "b1",
  namespace: "pid:[1]",
  controlGroups: "0::/a",
  above: [],
  userState: null,
};

type Process = Partial<Ancestor> & Pick<Ancestor, "pid" | "startedAt">;

/** Processes from this one upwards; the last is a child of the machine's first process. */
function line(...processes: readonly Process[]): Ancestor[] {
  const all: readonly Process[] = [...processes, { pid: 1, startedAt: 0, name: "init", user: 0, terminal: "" }];
  return all.map((each, i) => ({
    parent: all[i + 1]?.pid ?? 0,
    group: each.pid,
    session: each.pid,
    terminal: "",
    user: 1000,
    name: "sh",
    ...each,
  }));
}

const PTS = "34816";
const OTHER_PTS = "34817";
/** This process, in a terminal, started after the engine. */
const IN: Process = { pid: 90, startedAt: 2000, terminal: PTS };

type Row = readonly [
  how: string,
  expected: EventAuthor["type"],
  chain: readonly Ancestor[],
  more?: Partial<SpeakerFacts>,
];

const NO_TERMINAL: readonly Row[] = [
  ["a child of the engine", "agent", line({ pid: 90, startedAt: 2000 }, { pid: 50, startedAt: 1000 })],
  ["a child of the engine, in a terminal", "agent", line(IN, { pid: 50, startedAt: 1000 })],
  [
    "a process with the engine's number, reused",
    "claim",
    line({ pid: 90, startedAt: 2000 }, { pid: 50, startedAt: 999 }),
  ],
  ["a mark of any engine", "agent", line(IN), { marks: ["remand-x"] }],
  ["a mark, with no engine known here", "agent", line(IN), { marks: ["remand-x"], engine: null }],
  [
    "a mark that this journal began below",
    "claim",
    line({ pid: 90, startedAt: 2 }),
    { marks: ["x"], engine: { ...ENGINE, above: ["x"] } },
  ],
  [
    "a shell older than the engine, without a terminal",
    "claim",
    line({ pid: 90, startedAt: 2000 }, { pid: 40, startedAt: 500 }),
  ],
  [
    "a service in its own control group (systemd-run)",
    "claim",
    line({ pid: 90, startedAt: 2000 }),
    { groupsOf: () => "0::/s" },
  ],
  ["where no engine ran", "claim", line({ pid: 90, startedAt: 2000 }), { engine: null }],
  ["where the system tells nothing", "claim", []],
];

const TERMINALS: readonly Row[] = [
  ["a shell in it is older than the engine", "person", line(IN, { pid: 40, startedAt: 500, terminal: PTS })],
  ["an old terminal program made it", "person", line(IN, { pid: 30, startedAt: 500 })],
  [
    "an old service did not make it (at, cron)",
    "claim",
    line(IN, { pid: 30, startedAt: 500, name: "atd", user: 0 }),
    { holdsTerminal: () => false },
  ],
  [
    "an old service that hides its files",
    "claim",
    line(IN, { pid: 30, startedAt: 500, name: "cron", user: 0 }),
    { holdsTerminal: () => null },
  ],
  ["an orphan made it (python pty)", "claim", line(IN, { pid: 80, startedAt: 1500, name: "python3" })],
  ["an orphan has it itself", "claim", line(IN)],
  ["a user's systemd adopted the orphan", "claim", line(IN, { pid: 30, startedAt: 10, name: "systemd" })],
  [
    "an orphan made it below an old service",
    "claim",
    line(IN, { pid: 80, startedAt: 1500, name: "script" }, { pid: 30, startedAt: 500, name: "atd", user: 0 }),
  ],
  [
    "script, in an old terminal program's",
    "person",
    line(IN, { pid: 80, startedAt: 1500, terminal: OTHER_PTS }, { pid: 30, startedAt: 500 }),
  ],
  [
    "script, in an orphan's terminal",
    "claim",
    line(IN, { pid: 80, startedAt: 1500, terminal: OTHER_PTS }, { pid: 70, startedAt: 1400 }),
  ],
  [
    "a login by ssh after the engine started",
    "person",
    line(IN, { pid: 80, startedAt: 1500, name: "sshd" }, { pid: 79, startedAt: 1500, name: "sshd", user: 0 }),
  ],
  [
    "a process of the same user that calls itself sshd",
    "claim",
    line(IN, { pid: 80, startedAt: 1500, name: "sshd" }, { pid: 79, startedAt: 1500, name: "sshd" }),
  ],
  ["a login on the console", "person", line(IN, { pid: 80, startedAt: 1500, name: "login", user: 0, terminal: PTS })],
  ["a shell from outside of the container", "person", [{ ...line(IN)[0]!, parent: 0 }]],
  ["a parent that cannot be seen", "claim", [{ ...line(IN)[0]!, parent: 77 }]],
  ["another process namespace (unshare, nsenter)", "claim", [{ ...line(IN)[0]!, parent: 0 }], { namespace: "pid:[2]" }],
  ["a user namespace where no engine is seen", "claim", line(IN), { isInUserNamespace: true, engine: null }],
  ["no engine ran here", "person", line(IN), { engine: null }],
  ["no engine ran since the machine was started", "person", line(IN), { engine: { ...ENGINE, boot: "b0" } }],
  ["no engine ran here, one works elsewhere", "claim", line(IN), { engine: null, others: [ENGINE] }],
  [
    "a new window after the engine ended",
    "person",
    line(IN, { pid: 80, startedAt: 1500 }),
    { isRunning: () => false, groupsOf: () => "0::/w" },
  ],
  [
    "the same, in the engine's control group",
    "claim",
    line(IN, { pid: 80, startedAt: 1500 }),
    { isRunning: () => false },
  ],
  ["a new window while the engine works", "claim", line(IN, { pid: 80, startedAt: 1500 }), { groupsOf: () => "0::/w" }],
];

describe("the author of a process without a token", () => {
  test.for<Row>([...NO_TERMINAL, ...TERMINALS])("%s: %s", ([, expected, chain, more = {}]) => {
    const facts: SpeakerFacts = {
      line: chain,
      marks: [],
      boot: "b1",
      namespace: "pid:[1]",
      isInUserNamespace: false,
      engine: ENGINE,
      others: [],
      isRunning: () => true,
      holdsTerminal: (_pid, terminal) => terminal !== "",
      groupsOf: () => "0::/a",
      ...more,
    };
    expect(speakerOf(facts).type).toBe(expected);
  });
});

test("the output of ps is parsed, with times and terminals", () => {
  const text = [
    "    1     0     1     0 ??       Mon Nov 16 08:00:00 2026 /sbin/launchd",
    "  501     1   501   502 ttys001  Mon Nov 16 09:15:30 2026 /Applications/Some App.app/run it",
    "garbage",
  ].join("\n");
  const [first, second, ...rest] = readPs(text);
  expect(rest).toEqual([]);
  expect(first).toMatchObject({ pid: 1, parent: 0, terminal: "", user: 0, name: "/sbin/launchd" });
  expect(second).toMatchObject({ pid: 501, parent: 1, group: 501, terminal: "ttys001", user: 502 });
  expect(second!.startedAt - first!.startedAt).toBe(4530);
});
