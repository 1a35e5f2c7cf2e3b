import { describe, expect, test } from "vitest";
import { identifyFinding } from "../../../src/core/gates/finding-identity.ts";
import type { Finding } from "../../../src/core/gates/finding.ts";
import type { GateName } from "../../../src/core/gates/gate.ts";
import { roleName, type EvidenceId } from "../../../src/core/events/ids.ts";
import type { StoryState } from "../../../src/core/stories/story-state.ts";
import { disputedFindings } from "../../../src/engine/perform/report-attempt.ts";
import { newStory, UNJUDGED } from "../../../src/fold/new-state.ts";
import { judgementOf } from "../../kit/reviewers.ts";
import { gateRequest, memoryEvidence } from "../../contract/gate.ts";

const finding = (message: string, severity: Finding["severity"] = "major"): Finding =>
  identifyFinding({ severity, category: "review", source: "critic", message });
const minor = finding("a long name", "minor");
const grave = finding("an error is swallowed", "critical");
const aside = finding("a remark", "info");

/** A story whose work one gate has sent back, for the first two of three findings. */
function sentBack(gate: GateName | "person"): StoryState {
  const last = judgementOf({
    gate: "review",
    result: "fail",
    findings: [minor, grave, aside],
    blocking: [minor.id, grave.id],
  });
  const route = { phase: "implement", role: roleName("developer"), reason: "" } as const;
  return {
    ...newStory(gateRequest().story, 0, 0),
    rework: { gate, route, brief: "brief" },
    gates: { review: { ...UNJUDGED, last }, checks: { ...UNJUDGED, last } },
  };
}

async function disputed(text: string, state = sentBack("review")): Promise<readonly unknown[]> {
  const evidence = memoryEvidence();
  const message: EvidenceId = await evidence.keep(text);
  return disputedFindings({ evidence }, state, message);
}

describe("a dispute of the author", () => {
  test("names a finding by its id, or by its number in the brief, the worst first", async () => {
    expect(await disputed(`Dispute: ${minor.id}: it is the domain's word`)).toEqual([
      {
        type: "finding.disputed",
        gate: "review",
        finding: minor.id,
        by: "developer",
        rationale: "it is the domain's word",
      },
    ]);
    expect(await disputed("Dispute: 1: nothing throws")).toMatchObject([{ finding: grave.id }]);
    expect(await disputed(`Dispute: 2: a\nDispute: ${minor.id}: b`)).toMatchObject([
      { finding: minor.id, rationale: "b" },
    ]);
  });

  test.each([
    ["what the brief did not ask to fix", `Dispute: ${aside.id}: no`],
    ["a number beyond the list", "Dispute: 3: no"],
    ["nothing", "READY_FOR_REVIEW: checkout"],
  ])("cannot be about %s", async (_what, text) => {
    expect(await disputed(text)).toEqual([]);
  });

  test("cannot be about output of a command, or a person's comment", async () => {
    for (const gate of ["checks", "person"] as const)
      expect(await disputed(`Dispute: ${grave.id}: no`, sentBack(gate))).toEqual([]);
  });

  test("counts once", async () => {
    const known = { finding: grave.id, gate: "review", by: "developer", rationale: "no", standing: "open" } as const;
    expect(await disputed(`Dispute: ${grave.id}: no`, { ...sentBack("review"), disputes: [known] })).toEqual([]);
  });

  test("is empty without a stored message", async () => {
    expect(await disputedFindings({ evidence: memoryEvidence() }, sentBack("review"), undefined)).toEqual([]);
    expect(await disputedFindings({ evidence: memoryEvidence() }, sentBack("review"), "gone" as EvidenceId)).toEqual(
      [],
    );
  });
});
