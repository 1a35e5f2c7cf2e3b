import { expect, test } from "vitest";
import type { EscalationReason } from "../../../src/core/stories/escalation.ts";
import { optionsFor } from "../../../src/decide/escalate.ts";
import { likelyAnswers } from "../../../src/views/answers/likely-answers.ts";

const labels = (reason: EscalationReason): readonly string[] =>
  likelyAnswers({ reason, options: optionsFor(reason, null) }).map(({ label }) => label);

test("a question about a merge offers Merge first, and `I merged it` to a person who merged by hand", () => {
  expect(labels({ type: "approval", of: "merge" })).toEqual(["Merge", "I merged it", "Send back", "Abandon"]);
  expect(labels({ type: "target-moves", times: 10, merges: true }).slice(0, 2)).toEqual(["Merge", "I merged it"]);
  expect(labels({ type: "target-moves", times: 10, merges: false })[0]).toBe("I fixed it");
});
