import { afterEach, beforeEach, expect, test } from "vitest";
import { run, type Event } from "../../src/index.ts";
import { makeRepository, type TestRepository } from "../adapters/git-repository.ts";

let repository: TestRepository;
beforeEach(() => {
  repository = makeRepository({
    ".gitignore": "cache/\n",
    "check.sh": "test ! -e cache/stale || { echo 'the cache is stale'; exit 1; }\n",
    "stories/one.md": "---\ntitle: One\n---\n\nOne.\n",
  });
});
afterEach(() => repository.clear());

test("what fails in the story's own folder alone is not called non-deterministic: what lies there is to be looked at", async () => {
  const events: Event[] = [];
  await run({
    root: repository.root,
    env: repository.env,
    config: {
      version: 1,
      preset: "goal",
      agents: { developer: { use: "command", command: "echo 1 > one.txt; mkdir -p cache; touch cache/stale" } },
      gates: { checks: { commands: ["sh check.sh"] } },
    },
    set: ["limits.backoff=10ms"],
    onLines: (lines) => void events.push(...lines.map(({ event }) => event)),
  });
  const [found] = events.filter((event) => event.type === "blame.found");
  expect(found?.blame).toMatchObject({
    verdict: "unknown",
    explanation: expect.stringMatching(
      /^It fails again in .*worktrees\/one, and not in a fresh copy of the same files/,
    ),
  });
});
