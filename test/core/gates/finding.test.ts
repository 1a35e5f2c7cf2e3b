import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { failureFingerprint, identifyFinding } from "../../../src/core/gates/finding-identity.ts";
import { FINDING_STANDINGS, normalisedMessage, standings, type FindingDraft } from "../../../src/core/gates/finding.ts";
import { fingerprint, type Fingerprint } from "../../../src/core/events/ids.ts";
import { expectLinearCost } from "../../cpu-cost.ts";

const DRAFT: FindingDraft = {
  severity: "major",
  category: "Logic",
  message: "The error is swallowed",
  source: "critic",
  file: "src/a.ts",
  line: 42,
};
const id = (change: Partial<FindingDraft> = {}): Fingerprint => identifyFinding({ ...DRAFT, ...change }).id;

describe("the identity of a finding", () => {
  it.each<[string, Partial<FindingDraft>]>([
    ["the line it moved to", { line: 77 }],
    ["how grave it is thought to be", { severity: "blocker" }],
    ["who says it", { source: "auditor" }],
    ["the stage it is said in", { stage: "code-quality" }],
    ["the fix that is suggested", { suggestedFix: "rethrow it" }],
    ["case and white space", { message: "the ERROR  is\n swallowed ", category: "logic" }],
  ])("does not depend on %s", (_name, change) => {
    expect(id(change)).toBe(id());
  });

  it.each<[string, Partial<FindingDraft>]>([
    ["what it says", { message: "The error is logged twice" }],
    ["its category", { category: "naming" }],
    ["its file", { file: "src/b.ts" }],
    ["its symbol", { symbol: "login" }],
    ["its criterion", { criterion: "AC1" }],
  ])("depends on %s", (_name, change) => {
    expect(id(change)).not.toBe(id());
  });

  it.each([
    ["at /home/ada/project/src/a.ts:12:5", "at /tmp/w-17/src/a.ts:99:1"],
    ["C:\\work\\a.ts failed", "D:\\other\\place\\a.ts failed"],
    ["request 123e4567-e89b-12d3-a456-426614174000 failed", "request 00000000-e89b-12d3-a456-426614174999 failed"],
    ["at 2026-02-22T14:30:00Z", "at 2027-01-01 00:00:01.123+02:00"],
    ["segfault at 0xdeadbeef", "segfault at 0x1"],
    ["took 35 ms", "took 1200 ms"],
    ["timed out after 5.2 seconds", "timed out after 7 seconds"],
    ["see line 12", "see line 900"],
    ["pid 17 died", "pid 4711 died"],
  ])("does not depend on details of the run: “%s”", (one, other) => {
    expect(normalisedMessage(one)).toBe(normalisedMessage(other));
  });

  it.each([
    ["expected 3, got 4", "expected 3, got 5"],
    ["AC1 is not met", "AC2 is not met"],
    ["cannot read a.ts", "cannot read b.ts"],
  ])("tells “%s” from “%s”", (one, other) => {
    expect(normalisedMessage(one)).not.toBe(normalisedMessage(other));
  });

  it("is computed quickly for a message of any length", () => {
    const message = "/a".repeat(5_000_000);
    expectLinearCost(message.length, (n) => () => normalisedMessage(message.slice(0, n)));
  });
});

describe("the identity of a failure", () => {
  const [one, two] = [identifyFinding(DRAFT), identifyFinding({ ...DRAFT, message: "another" })];

  it("is the set of its findings, in any order and number", () => {
    expect(failureFingerprint([one, two, one], "x")).toBe(failureFingerprint([two, one], "y"));
    expect(failureFingerprint([one], "x")).not.toBe(failureFingerprint([one, two], "x"));
  });

  it("is the summary if there are no findings", () => {
    expect(failureFingerprint([], "exit 1 after 3 s")).toBe(failureFingerprint([], "exit 1 after 9 s"));
    expect(failureFingerprint([], "exit 1")).not.toBe(failureFingerprint([], "exit 2"));
  });
});

describe("standings", () => {
  const ids = Object.fromEntries(
    ["fresh", "still", "gone", "back", "waived", "disputed", "old"].map((name) => [name, fingerprint(name)]),
  ) as Record<string, Fingerprint>;

  it("are computed for each finding from the earlier rounds", () => {
    const now = ["fresh", "still", "back", "waived", "disputed"].map((name) => ids[name]!);
    const earlier = new Map([
      [ids["still"]!, { inLastRound: true }],
      [ids["gone"]!, { inLastRound: true }],
      [ids["back"]!, { inLastRound: false }],
      [ids["waived"]!, { inLastRound: true }],
      [ids["disputed"]!, { inLastRound: true }],
      [ids["old"]!, { inLastRound: false }],
    ]);
    const found = standings(now, earlier, { waived: new Set([ids["waived"]!]), disputed: new Set([ids["disputed"]!]) });
    expect(Object.fromEntries(found)).toEqual({
      fresh: "new",
      still: "persisting",
      gone: "resolved",
      back: "regressed",
      waived: "waived",
      disputed: "disputed",
    });
    expect(new Set(found.values())).toEqual(new Set(FINDING_STANDINGS));
  });

  it("a finding that is waived and disputed counts as waived", () => {
    const one = fingerprint("x");
    expect(standings([one], new Map(), { waived: new Set([one]), disputed: new Set([one]) }).get(one)).toBe("waived");
  });

  it("every finding of this round and of the last one has exactly one", () => {
    const some = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d").map(fingerprint));
    fc.assert(
      fc.property(some, some, some, (now, last, before) => {
        const earlier = new Map<Fingerprint, { inLastRound: boolean }>([
          ...before.map((each) => [each, { inLastRound: false }] as const),
          ...last.map((each) => [each, { inLastRound: true }] as const),
        ]);
        const found = standings(now, earlier, { waived: new Set(), disputed: new Set() });
        expect(new Set(found.keys())).toEqual(new Set([...now, ...last]));
        for (const each of last) if (!now.includes(each)) expect(found.get(each)).toBe("resolved");
      }),
    );
  });
});
