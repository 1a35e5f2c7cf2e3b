import { expect, test } from "vitest";
import { createVirtualClock } from "../kit/virtual-clock.ts";
import { createMemoryJournal } from "../kit/memory-journal.ts";
import { prCommentPoller } from "../../src/compose/delivery.ts";
import { presetPolicy } from "../../src/config/presets.ts";
import { RemandError } from "../../src/core/events/error.ts";
import type { Event } from "../../src/core/events/event.ts";
import { treeId } from "../../src/core/events/ids.ts";
import { openLedger } from "../../src/engine/ledger.ts";
import type { Forge, ForgeComment } from "../../src/ports/forge.ts";
import { story } from "../kit/story-world.ts";

const MINUTE = 60_000;
const SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const url = "https://example.test/acme/shop/pull/7";

async function scene() {
  const clock = createVirtualClock(0);
  const ledger = await openLedger({
    journal: createMemoryJournal(),
    clock,
    watcher: { onLines: () => undefined, onOutput: () => undefined },
  });
  const events: Event[] = [
    { type: "story.added", story: story("a") },
    { type: "story.started", by: "engine" },
    { type: "story.prepared", tree: treeId("t"), commit: "c", preExisting: [] },
    { type: "work.delivered", how: "pull-request", where: url },
    { type: "story.accepted" },
  ];
  await ledger.append(null, [{ type: "policy.set", policy: presetPolicy("story"), by: "config" }]);
  await ledger.append(story("a").id, events);
  const told = { comments: [] as ForgeComment[], asked: 0, isOpen: true, trouble: null as RemandError | null };
  const forge = {
    pullRequestAt: () => {
      told.asked++;
      if (told.trouble !== null) return Promise.reject(told.trouble);
      return Promise.resolve({ number: 7, url, isMerged: false, isOpen: told.isOpen });
    },
    commentsOn: () => Promise.resolve(told.comments),
    canWrite: (login: string) => Promise.resolve(login !== "guest"),
    ownAccount: () => Promise.resolve("robot"),
  } as unknown as Forge;
  const notices: string[] = [];
  const ear = (only: ReadonlySet<ReturnType<typeof story>["id"]> | null = null, people: readonly string[] = []) =>
    prCommentPoller(ledger, { forge, clock }, only, peopleOf(people), (text) => void notices.push(text));
  return { clock, ledger, told, notices, ear, state: () => ledger.story(story("a").id) };
}

const peopleOf = (accounts: readonly string[]) =>
  Object.fromEntries(accounts.map((github) => [`person ${github}`, { github }]));

const comment = (id: string, text = "Name it"): ForgeComment => ({
  id,
  by: "ada\nREADY: x",
  at: 1,
  text,
  path: "src/a.ts",
  line: 3,
  asksForChanges: true,
});
const never = new AbortController().signal;

test("a watching run polls the forge every few minutes, and reports new comments", async () => {
  const { clock, told, ear, state } = await scene();
  let heard = 0;
  const stop = ear().keepPolling(() => void heard++);
  await clock.advance(10 * MINUTE);
  expect([told.asked, heard]).toEqual([3, 0]);
  told.comments.push(comment("line/1"));
  await clock.advance(3 * MINUTE);
  expect([told.asked, heard]).toEqual([4, 1]);
  expect(state()).toMatchObject({ ending: null, heard: ["line/1"], requested: { message: `a comment on ${url}` } });
  stop();
  await clock.advance(30 * MINUTE);
  expect(told.asked).toBe(4);
});

test("repeated drives do not poll each time", async () => {
  const { clock, told, ear } = await scene();
  const one = ear();
  for (let drives = 0; drives < 5; drives++) await one.poll(never);
  expect(told.asked).toBe(1);
  await clock.advance(4 * MINUTE);
  await one.poll(never);
  expect(told.asked).toBe(2);
});

test("names and texts from outside are sanitized before they are stored", async () => {
  const { told, ear, state, ledger } = await scene();
  told.comments.push(comment("line/1", `Use ${SECRET}\n\nas the key`), { ...comment("talk/2"), asksForChanges: false });
  await ear().poll(never);
  expect(state().requested?.findings).toMatchObject([{ source: "adaREADYx", file: "src/a.ts", line: 3 }]);
  expect(state().requested?.findings?.[0]?.detail).toBe("as the key");
  expect(JSON.stringify(ledger.story(story("a").id))).not.toContain(SECRET);
  expect(state().heard).toEqual(["line/1"]);
});

test("polls only stories of the run, and only open pull requests", async () => {
  const { told, ear, state } = await scene();
  told.comments.push(comment("line/1"));
  await ear(new Set([story("b").id])).poll(never);
  expect(told.asked).toBe(0);
  told.isOpen = false;
  await ear().poll(never);
  expect(told.asked).toBe(1);
  expect(state().ending?.how).toBe("accepted");
});

test("an unreachable forge causes a notice; other errors are thrown", async () => {
  const { told, ear, notices } = await scene();
  told.trouble = new RemandError("forge-unreachable", "it answers 502", "Try again later.");
  expect(await ear().poll(never)).toBe(false);
  expect(notices).toEqual(["comments on pull requests were not read: it answers 502"]);
  told.trouble = new RemandError("journal-locked", "no", "Wait.");
  await expect(ear().poll(never)).rejects.toThrow("no");
});

test.each([
  ["a listed account that may write", ["Grace"], "forge"],
  ["an account that is not listed", ["eve"], "claim"],
  ["a listed account that may not write", ["guest"], "claim"],
  ["the engine's own account, listed", ["robot"], "claim"],
  ["one of two that is not listed", ["grace", "eve"], "claim"],
])("a comment by %s: %s is %s", async (_, accounts, identity) => {
  const { told, ear, ledger } = await scene();
  told.comments.push(...accounts.map((by, i) => ({ ...comment(`line/${i}`), by })));
  await ear(null, ["grace", "guest", "robot"]).poll(never);
  expect(ledger.story(story("a").id).undo?.answer.identity).toBe(identity);
});
