import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { keptEvent } from "../../../src/adapters/journal/chain.ts";
import { createSqliteJournal } from "../../../src/adapters/journal/sqlite-journal.ts";
import { learnSecrets, learnVariables } from "../../../src/adapters/process/own-secrets.ts";
import type { Event } from "../../../src/core/events/event.ts";
import { eventSchema } from "../../../src/core/schemas/event.ts";
import { storyId, treeId } from "../../../src/core/events/ids.ts";
import { canonicalJson } from "../../../src/stdx/canonical-json.ts";
import { EVENTS } from "../../kit/event-arbitraries.ts";

const VALUE = "hunter2-of-acme-9000";
const TOKEN = `ghp_${"aB3dE6gH9kL2".repeat(3)}`;
learnVariables({ ACME_API_TOKEN: VALUE, AUTH_ROLE: "developer", HOME: "/home/ada", CACHE_KEY: "a1".repeat(20) });

const folder = mkdtempSync(join(tmpdir(), "redacted-journal-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const finished = (summary: string): Event => ({
  type: "attempt.finished",
  attempt: 1,
  outcome: { type: "ready" },
  tree: treeId("b2".repeat(20)),
  commit: "a1".repeat(20),
  changed: ["src/developer.ts"],
  productChanged: true,
  summary,
  durationMs: 1,
});

test("the file contains no secret, in lines or outbox, and the writer folds what is stored", async () => {
  const file = join(folder, "journal.db");
  const journal = await createSqliteJournal(file);
  const appended = await journal.append(storyId("a"), 0, [finished(`done with ${VALUE} and ${TOKEN}`)], 1);
  await journal.outbox.put("a/1", JSON.stringify({ text: `said ${VALUE}`, output: { note: TOKEN } }));
  expect(await journal.outbox.get("a/1")).toBe(
    JSON.stringify({ text: "said [redacted:listed]", output: { note: "[redacted:github-token]" } }),
  );
  await journal.outbox.put("a/2", `no JSON: ${VALUE}`);
  const bytes = (): string =>
    readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), "latin1"))
      .join("\n");
  expect(bytes()).toContain("[redacted:listed]");
  expect(bytes()).not.toContain(VALUE);
  expect(bytes()).not.toContain(TOKEN);
  expect(appended.ok && appended.stored[0]!.event).toMatchObject({
    summary: "done with [redacted:listed] and [redacted:github-token]",
  });
  expect((await journal.verify()).ok).toBe(true);
  await journal.close();
});

describe("fields that programs compare are not redacted", () => {
  test("if a secret equals a role's name, a part of a path or a commit id", () => {
    const started = {
      type: "attempt.started",
      attempt: 1,
      phase: "implement",
      role: "developer",
      reworkOf: null,
      brief: null,
      forecastUsd: null,
    } as Event;
    expect(keptEvent(started).event).toEqual(started);
    expect(keptEvent(finished("by the developer")).event).toEqual(finished("by the [redacted:listed]"));
  });

  test("events of any kind keep their form, and redacting again changes nothing", () => {
    learnSecrets(["aaaaaaaa"]);
    const anyEvent: fc.Arbitrary<Event> = fc.oneof(...Object.values<fc.Arbitrary<Event>>(EVENTS));
    fc.assert(
      fc.property(anyEvent, (event) => {
        const once = keptEvent(event);
        expect(keptEvent(once.event).text).toBe(once.text);
        expect(once.text).toBe(canonicalJson(once.event));
        expect(eventSchema.safeParse(once.event).success).toBe(eventSchema.safeParse(event).success);
      }),
      { numRuns: 500 },
    );
  });
});
