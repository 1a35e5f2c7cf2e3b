import { expect, test } from "vitest";
import { command as status } from "../../../../src/cli/commands/read/status.ts";
import type { Host } from "../../../../src/app/host.ts";
import { storyId } from "../../../../src/core/events/ids.ts";
import { story } from "../../../kit/story-world.ts";
import { fakeHost } from "../../../kit/fake-host.ts";
import { run } from "../../../kit/fake-environment.ts";

const id = storyId("goes-on");

/** A host with one open story and so many ended ones that it leaves them out where possible. */
async function longRun(): Promise<{ host: Host; asked: unknown[] }> {
  const fake = fakeHost();
  await fake.write(id, { type: "story.added", story: story(id) });
  const asked: unknown[] = [];
  const glance: Host["readOutline"] = (_root, only) => {
    asked.push(only);
    const state = fake.state();
    return Promise.resolve(only === "open" ? { ...state, unlisted: { accepted: 99_900, failed: 2 } } : state);
  };
  return { host: { ...fake, readOutline: glance }, asked };
}

test("stories that ended long ago are counted, not listed, and still matter to the exit code", async () => {
  const { host, asked } = await longRun();
  const told = await run(["status"], [status], { host });
  expect(told.out).toMatch(/^STORY .*\ngoes-on .*\n\(99,902 stories that have ended are not listed: .*\)\n/);
  expect(told.out).toContain("99903 stories · 99900 accepted");
  expect(told.out).toContain("2 failed");
  expect(told.exit).toBe(3);
  expect(asked).toEqual(["open"]);
});

test("--json lists every story, and a named story alone", async () => {
  const { host, asked } = await longRun();
  const told = await run(["status", "--json"], [status], { host });
  expect(told.out).not.toContain("not listed");
  await run(["status", "goes-on"], [status], { host });
  // Only this story is read, never all.
  expect(asked).toEqual([undefined, [id]]);
});
