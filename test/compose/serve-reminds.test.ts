import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSqliteJournal } from "../../src/adapters/journal/sqlite-journal.ts";
import { serve } from "../../src/compose/serve.ts";
import { presetPolicy } from "../../src/config/preset-policy.ts";
import type { Event } from "../../src/domain/event.ts";
import { storyId } from "../../src/domain/ids.ts";
import { escalateStory } from "../../src/policy/escalate.ts";
import { evolve } from "../../src/policy/evolve.ts";
import { EMPTY_RUN } from "../../src/policy/new-state.ts";
import { stateOf } from "../seeds/scripted-run.ts";
import { story } from "../simulation/world.ts";

/* The dashboard as it is served, beside a journal whose question has waited for two hours, and no engine. */

const HOUR = 3_600_000;
let root: string;
const told = (): string => join(root, "told.txt");

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "remand-serve-"));
  mkdirSync(join(root, ".remand"));
  mkdirSync(join(root, "pages"));
  writeFileSync(join(root, "pages", "index.html"), "<!doctype html>");
  const journal = await createSqliteJournal(join(root, ".remand", "journal.db"));
  const asked = Date.now() - 2 * HOUR;
  let state = EMPTY_RUN;
  const write = async (of: string | null, seq: number, event: Event): Promise<void> => {
    const appended = await journal.append(of === null ? null : storyId(of), seq, [event], asked);
    if (!appended.ok) throw new Error("nobody else writes here");
    for (const line of appended.stored) state = evolve(state, line);
  };
  await write(null, 0, { type: "policy.set", policy: presetPolicy("goal"), by: "test" });
  await write("a", 0, { type: "story.added", story: story("a") });
  const reason = { type: "stall", stall: "same-failure", detail: "the same test fails" } as const;
  await write("a", 1, { type: "escalation.raised", escalation: escalateStory(stateOf(state, "a"), reason, "checks") });
  await journal.close();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const served = (readOnly: boolean): ReturnType<typeof serve> =>
  serve(
    root,
    null,
    {
      port: 0,
      readOnly,
      by: "ada",
      version: "1",
      redact: [],
      notify: { notify: ['echo "$REMAND_KIND: $REMAND_TITLE" >> told.txt'], env: [] },
      assets: join(root, "pages"),
      health: () => Promise.resolve({ probes: [], config: [] }),
      verify: () => Promise.resolve(null),
    },
    { PATH: process.env["PATH"] },
  );

describe("remand serve", () => {
  it("raises once what fell due while nobody was there", async () => {
    for (let times = 0; times < 2; times++) {
      const dashboard = await served(false);
      await expect.poll(() => existsSync(told()), { timeout: 10_000 }).toBe(true);
      await dashboard.close();
    }
    expect(readFileSync(told(), "utf8")).toBe(
      "reminder: a still needs you, after 2 h: the same failure again and again\n",
    );
  });

  it("tells nobody anything where it may only look", async () => {
    const dashboard = await served(true);
    await dashboard.close();
    expect(existsSync(told())).toBe(false);
    expect(existsSync(join(root, ".remand", "journal.db.reminders"))).toBe(false);
  });
});
