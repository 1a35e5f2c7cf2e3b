import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import { ANSWER_VERBS, type AnswerVerb } from "../../../src/core/stories/escalation.ts";
import type { Event, Recorded } from "../../../src/core/events/event.ts";
import { readRecorded } from "../../../src/core/schemas/event.ts";
import { GATES } from "../../../src/core/gates/gate.ts";
import { GATE_REGISTRY } from "../../../src/core/gates/registry.ts";
import { answer, attemptEnd, judgement, recordedEvent, story } from "../../kit/story-world.ts";
import { EVENTS, recordedOf, streamOf } from "../../kit/event-arbitraries.ts";

const TYPES = Object.keys(EVENTS) as Event["type"][];
const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function problemOf(value: unknown): string {
  const read = readRecorded(value);
  return read.ok ? "no problem" : read.problem;
}

type Key = string | number;

interface Spot {
  readonly path: readonly Key[];
  readonly value: unknown;
}

/** Every value in a document, with its path. */
function* spotsOf(value: unknown, path: readonly Key[] = []): Generator<Spot> {
  yield { path, value };
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* spotsOf(item, [...path, index]);
  else if (isObject(value)) for (const [key, item] of Object.entries(value)) yield* spotsOf(item, [...path, key]);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Roles by stage, and fallbacks: people choose the names, so no name is unknown and none must be there. */
const isByName = (path: readonly Key[]): boolean =>
  /^event\.(?:policy\.roles\.(?:stage|fallback)|judgement\.(?:quality|asked|sessions)|asked)$/.test(path.join("."));

function written(path: readonly Key[]): string {
  let text = "";
  for (const key of path) text += typeof key === "number" ? `[${key}]` : `${text === "" ? "" : "."}${key}`;
  return text === "" ? "the whole" : text;
}

/** A copy in which the value at the path is another one. */
function withAt(document: unknown, path: readonly Key[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const copy = (Array.isArray(document) ? [...document] : { ...(document as object) }) as Record<Key, unknown>;
  if (rest.length === 0 && value === MISSING) delete copy[key];
  else copy[key] = withAt(copy[key], rest, value);
  return copy;
}

const MISSING = Symbol("missing");

function withKey(object: unknown, key: string, value: unknown): object {
  return Object.defineProperty({ ...(object as object) }, key, { value, enumerable: true });
}

describe.each(TYPES)("%s that somebody changed is refused with the path of the change", (type) => {
  const document = recordedOf(type).map(stored);
  const damaged = (check: (whole: unknown, spots: readonly Spot[]) => void): void => {
    fc.assert(
      fc.property(document, (whole) => check(whole, [...spotsOf(whole)])),
      { numRuns: 10 },
    );
  };

  test("a value of the wrong kind, at any depth", () => {
    damaged((whole, spots) => {
      for (const { path, value } of spots) {
        if (isByName(path.slice(0, -1))) continue;
        const wrong = Array.isArray(value) ? { not: "a list" } : [["not this"]];
        expect(problemOf(withAt(whole, path, wrong))).toContain(`${written(path)}: `);
      }
    });
  });

  test("a key that nobody knows, and one named __proto__", () => {
    damaged((whole, spots) => {
      for (const { path, value } of spots) {
        if (!isObject(value)) continue;
        const added = stored(withAt(whole, path, withKey(value, "surprise", "x")));
        if (!isByName(path)) expect(problemOf(added)).toContain(`${written(path)}: unknown key "surprise"`);
        const polluted = stored(withAt(whole, path, withKey(value, "__proto__", { admin: true })));
        expect(problemOf(polluted)).toContain(`${written(path)}: `);
        expect(problemOf(polluted)).toContain("__proto__");
      }
    });
  });

  test("a missing key; an optional key stays missing", () => {
    let refused = 0;
    damaged((whole, spots) => {
      for (const { path } of spots) {
        if (typeof path.at(-1) !== "string" || isOfLaterGate(path)) continue;
        const without = withAt(whole, path, MISSING);
        const read = readRecorded(without);
        if (read.ok) expect(read.recorded).toStrictEqual(without);
        else expect(read.problem).toContain(`${written(path)}: `);
        if (!read.ok) refused++;
      }
    });
    // Four of the line, and at least the event's own type, in each of the ten.
    expect(refused).toBeGreaterThanOrEqual(50);
  });

  test("an event in the wrong stream", () => {
    fc.assert(
      fc.property(recordedOf(type), (line) => {
        const inProject = readRecorded({ ...line, story: null });
        const inStory = readRecorded({ ...line, story: line.story ?? "a" });
        expect([inProject.ok, inStory.ok]).toEqual([streamOf(type) !== "story", streamOf(type) !== "project"]);
        if (!inProject.ok) expect(inProject.problem).toBe(`story: ${type} is the event of a story, and none is named`);
        if (!inStory.ok) expect(inStory.problem).toBe(`story: ${type} is the project's own event, not a story's`);
      }),
      { numRuns: 20 },
    );
  });
});

/** What a policy says of a gate that was added later is filled in where it is missing. */
const isOfLaterGate = (path: readonly (string | number)[]): boolean =>
  (path.at(-2) === "gates" || path.at(-2) === "failures") &&
  GATES.some((gate) => gate === path.at(-1) && !GATE_REGISTRY[gate].isInEveryPolicy);

const line = (event: Event, of: string | null = "a"): Recorded => recordedEvent(1, of, event);

describe("the version", () => {
  const accepted = line({ type: "story.accepted" });

  test.each([2, 3, 1_000_000])("%d is from a newer version, whatever else is in the line", (v) => {
    const problem = `written by a newer version of Remand: its format is ${v}, this one reads 1`;
    expect(problemOf({ ...accepted, v })).toBe(problem);
    expect(problemOf({ v, anything: "else" })).toBe(problem);
  });

  test.each([0, -1, 1.5, "1", "2", null, true, Infinity, NaN])("%s is not a version", (v) => {
    expect(problemOf({ ...accepted, v })).toMatch(/^v: /);
  });
});

describe("an answer of a person", () => {
  const saying = (verb: AnswerVerb, by: string, message: string): string =>
    problemOf(line(answer(verb, { by, message })));

  test.each(ANSWER_VERBS)("%s needs a name", (verb) => {
    expect(saying(verb, "Ada", "because")).toBe("no problem");
    for (const by of ["", " ", "\t\n"])
      expect(saying(verb, by, "because")).toBe("event.answer.by: a name is needed: who did this?");
  });

  const needReason: readonly AnswerVerb[] = ["waive", "force-complete", "known", "allow"];

  test.each(needReason)("%s needs a reason", (verb) => {
    for (const message of ["", "  ", "\n"])
      expect(saying(verb, "Ada", message)).toBe(
        "event.answer.message: a reason is needed: why does this go through without a pass?",
      );
  });

  test.each(ANSWER_VERBS.filter((verb) => !needReason.includes(verb)))("%s may be silent", (verb) => {
    expect(saying(verb, "Ada", "")).toBe("no problem");
  });

  test.each(["story.held", "story.released", "story.started"] as const)("%s needs a name", (type) => {
    expect(problemOf(line({ type, by: "" }))).toBe("event.by: a name is needed: who did this?");
  });
});

describe("numbers", () => {
  const finished = attemptEnd(1, { type: "ready" }, "t1");

  test.each([NaN, Infinity, -Infinity, -1, "1", null])("%s is not a duration", (durationMs) => {
    expect(problemOf({ ...line(finished), event: { ...finished, durationMs } })).toMatch(/^event\.durationMs: /);
  });

  test.each([NaN, Infinity, -1, 1.5, 2 ** 53, "1", null])("%s is not the number of an attempt", (attempt) => {
    expect(problemOf({ ...line(finished), event: { ...finished, attempt } })).toMatch(/^event\.attempt: /);
  });

  test.each([-0.1, 1.1])("%d is not a confidence", (confidence) => {
    const blame = { verdict: "unknown", basis: "ranked", confidence, suspects: [], explanation: "", testRuns: 0 };
    const event = { type: "blame.found", gate: "checks", blame, durationMs: 0 };
    expect(problemOf({ v: 1, at: 0, story: "a", event })).toMatch(/^event\.blame\.confidence: /);
  });
});

describe("ids and kinds", () => {
  test.each(["", ".hidden", "a/b", "../a", "a b", "x".repeat(101), "a\n", "é"])("%j is not the id of a story", (id) => {
    expect(problemOf({ ...line({ type: "story.accepted" }), story: id })).toMatch(/^story: an id has letters/);
  });

  test("a story in another story's stream", () => {
    expect(problemOf(line({ type: "story.added", story: story("b") }))).toBe(
      "story: story.added is about another story",
    );
  });

  test("a tree, a role or a finding without a name", () => {
    const failed = judgement("checks", "t1", "fail");
    expect(problemOf(line({ type: "gate.judged", judgement: { ...failed, tree: "" as never } }))).toMatch(
      /^event\.judgement\.tree: /,
    );
    expect(problemOf(line({ type: "gate.judged", judgement: { ...failed, blocking: ["" as never] } }))).toMatch(
      /^event\.judgement\.blocking\[0\]: /,
    );
  });

  test("an event that this version does not know", () => {
    expect(problemOf({ ...line({ type: "story.accepted" }), event: { type: "story.lost" } })).toBe(
      "event.type: no kind that this version knows",
    );
    expect(problemOf({ ...line({ type: "story.accepted" }), event: { type: "constructor" } })).toBe(
      "event.type: no kind that this version knows",
    );
  });

  test.each([null, undefined, 1, "text", [], true])("%j is not a line of a journal", (value) => {
    expect(problemOf(value)).toMatch(/^the whole: /);
  });
});

test("a key that a person chose is quoted in the path", () => {
  const policy = presetPolicy("story");
  const stage = { "code review": 1, ["\u001b[2Jx".repeat(50)]: 1 };
  const event = { type: "policy.set", policy: { ...policy, roles: { ...policy.roles, stage } }, by: "Ada" };
  const [first, second] = problemOf({ v: 1, at: 0, story: null, event }).split("; ");
  expect(first).toMatch(/^event\.policy\.roles\.stage\["code review"\]: /);
  expect(second).toMatch(/^event\.policy\.roles\.stage\["x+…"\]: /);
});

test("a message stays short and plain, whatever the keys are", () => {
  const keys = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`${"k".repeat(1000)}${i}`, i]));
  const problem = problemOf({ ...line({ type: "story.accepted" }), ...keys });
  expect(problem.length).toBeLessThan(300);
  expect(problem).toMatch(/^the whole: unknown key "k{60}…".* and 9997 more$/);
  const odd = problemOf({ ...line({ type: "story.accepted" }), ["\u001b[2J\u202ekey\n"]: 1 });
  expect(odd).toBe(String.raw`the whole: unknown key "key\n"`);
  const wrongEverywhere = {
    v: 1,
    at: 0,
    story: "a",
    event: { type: "gate.judged", judgement: { findings: Array.from({ length: 1000 }, () => 1) } },
  };
  expect(problemOf(wrongEverywhere).split("; ")).toHaveLength(5);
});
