import { describe, expect, test } from "vitest";
import { authorityRefusal, withIdentity, type EventAuthor, IDENTITIES } from "../../../src/core/events/authority.ts";
import type { Event } from "../../../src/core/events/event.ts";
import { ANSWER_VERBS, type AnswerVerb } from "../../../src/core/stories/escalation.ts";

const CLAIM: EventAuthor = { type: "claim", why: "it has no terminal and no token" };
const AGENT: EventAuthor = { type: "agent", why: "process 7 above it is the engine" };

const says = (verb: AnswerVerb): Event => ({
  type: "person.answered",
  answer: { verb, by: "Ada", message: "", escalation: null },
});

describe("what each author may do", () => {
  test("a claim can stop work and send it back, and accepts nothing", () => {
    const allowed = ANSWER_VERBS.filter((verb) => authorityRefusal(CLAIM, [says(verb)]) === null);
    expect(allowed).toEqual(["send-back", "abandon", "halt"]);
    expect(authorityRefusal(CLAIM, [{ type: "story.held", by: "Ada" }])).toBeNull();
    expect(authorityRefusal(CLAIM, [{ type: "answer.undone", by: "Ada" }])?.message).toContain("Undoing an answer");
  });

  test("a claim can end a claim's pause, and not an identified person's", () => {
    const released: Event = { type: "story.released", by: "Ada" };
    const resumed: Event = { type: "run.resumed", by: "Ada" };
    expect(authorityRefusal(CLAIM, [released])).toBeNull();
    expect(authorityRefusal(CLAIM, [released], { pausedAs: "claim" })).toBeNull();
    expect(authorityRefusal(CLAIM, [released], { pausedAs: "terminal" })?.message).toContain("Resuming a story");
    expect(authorityRefusal(CLAIM, [resumed], { haltedAs: "token" })?.message).toContain("Resuming a run");
    expect(authorityRefusal(CLAIM, [resumed], { pausedAs: "token" })).toBeNull();
  });

  test("an agent may do nothing, an identified person everything", () => {
    for (const verb of ANSWER_VERBS) {
      expect(authorityRefusal(AGENT, [says(verb)])).not.toBeNull();
      for (const identity of IDENTITIES)
        if (identity !== "claim") expect(authorityRefusal({ type: "person", identity }, [says(verb)])).toBeNull();
    }
  });

  test("a refusal says why, and how to become identified", () => {
    const { message, hint } = authorityRefusal(CLAIM, [says("waive")])!;
    expect(message).toBe(
      "waive needs an identified person, and this process only claims to be one: it has no terminal and no token",
    );
    expect(hint).toContain("remand token");
    expect(hint).toContain("terminal");
  });
});

test("each event of a person records how the person is known", () => {
  const events: Event[] = [says("waive"), { type: "story.held", by: "Ada" }, { type: "story.accepted" }];
  expect(withIdentity({ type: "person", identity: "token" }, events)).toEqual([
    { type: "person.answered", answer: { verb: "waive", by: "Ada", message: "", escalation: null, identity: "token" } },
    { type: "story.held", by: "Ada", identity: "token" },
    { type: "story.accepted" },
  ]);
  expect(withIdentity(CLAIM, [{ type: "answer.undone", by: "Ada" }])).toEqual([
    { type: "answer.undone", by: "Ada", identity: "claim" },
  ]);
});
