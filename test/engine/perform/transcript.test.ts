import { expect, test } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import { createTranscript } from "../../../src/engine/perform/attempt-outcome.ts";
import { agentResult } from "../../contract/agent-result.ts";
import { createStage, ready } from "../../kit/one-story.ts";

test("an agent's output is stored as evidence if it is more than its message", async () => {
  const stage = await createStage(presetPolicy("critic-audit"), (own) => (_, { onEvent }) => {
    for (const line of ["→ Edit: src/a.ts", "done"]) onEvent({ type: "output", line });
    return ready(own);
  });
  await stage.until("start-gate");
  const [finished] = await stage.events("attempt.finished");
  expect(await stage.world.evidence.read(finished!.transcript!)).toBe("→ Edit: src/a.ts\ndone");
  const quiet = await createStage(presetPolicy("critic-audit"));
  await quiet.until("start-gate");
  expect((await quiet.events("attempt.finished"))[0]).not.toHaveProperty("transcript");
});

test("the end of a long output is kept, with the size of the missing part", () => {
  const transcript = createTranscript();
  for (let line = 0; line < 3000; line++) transcript.add(`${line} ${"x".repeat(1000)}`);
  const { printed } = transcript.of(agentResult());
  expect(printed.length).toBeLessThan(1_100_000);
  expect(printed).toMatch(/^\(\d+ earlier lines left out\)\n/);
  expect(printed).toContain("\n2999 x");
});
