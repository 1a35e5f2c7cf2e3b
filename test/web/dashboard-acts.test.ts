/**
 * A person's actions on a story in a real browser: disputes a finding, pauses and resumes a story, undoes an answer on
 * the story's page; and finds one story among five thousand.
 */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { addLongStory, LONG_STORY } from "../../bench/dashboard/long-story.ts";
import { longJournal } from "../../bench/engine/long-journal.ts";
import { useBrowser } from "./browser-page.ts";
import {
  dashboardProject,
  disputedParts,
  disputedStory,
  projectFiles,
  slowParts,
  slowStory,
} from "./dashboard-project.ts";

/** Only one story, because these tests are about answers to it. */
const FILES = Object.fromEntries(
  Object.entries(projectFiles(disputedStory, [...disputedParts, ...slowParts])).filter(
    ([path]) => !path.startsWith("stories/") || path in disputedStory,
  ),
);
const project = dashboardProject(FILES);
const MANY = 5000;
/** Including the story that they were copied from, and the long one. */
const ALL = MANY + 2;
const { page, visit, expectSeen, expectAccessible } = useBrowser();

afterAll(() => project.clear());

function said(child: ChildProcess, words: string): Promise<void> {
  let text = "";
  return new Promise((done) => {
    const hear = (data: unknown): void => {
      text += String(data);
      if (text.includes(words)) done();
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
  });
}

/** The address of the dashboard of a running engine. */
let url: string;

describe("a story", () => {
  const at = (path: string): string => new URL(path, url).href;
  beforeAll(async () => {
    await project.run();
    ({ url } = await project.serve());
    await said(project.start("run", "--watch", "--reporter", "minimal"), "watching");
  });
  beforeEach(async () => {
    await visit(url);
    await page().goto(at("/story/count-words"));
    await expectSeen(page().getByRole("heading", { name: "Count the words" }));
  });

  const dispute = async (): Promise<void> => {
    await page().goto(at("/"));
    await page().locator(".need").filter({ hasText: "Count the words" }).locator("[data-main]").click();
    const question = page().getByRole("article");
    await question.getByRole("radio", { name: /^Dispute/ }).check();
    await question.getByRole("checkbox", { name: /an empty text counts as one word/ }).check();
    await question.getByLabel("Reason, recorded with your name").fill("the filter drops it");
    await question.getByRole("button", { name: "Dispute" }).click();
    await expect.poll(() => question.count()).toBe(0);
    await page().goto(at("/story/count-words"));
  };

  test("that is paused waits despite an answer, and the answer is undone on the story's page", async () => {
    await page().getByRole("button", { name: "Pause", exact: true }).click();
    await expectSeen(page().getByText("Paused: nothing runs for it, and nothing new starts."));
    await expectSeen(page().getByRole("button", { name: "Resume", exact: true }));
    await expectAccessible();

    await dispute();
    await expectSeen(page().getByText("ada answered dispute: the filter drops it").first());
    await expectSeen(page().getByRole("heading", { name: "Recent answers" }));
    await expectAccessible();
    await page().getByRole("region", { name: "Answered" }).getByRole("button", { name: "Undo" }).click();
    await expectSeen(page().getByText("Undone: count-words is as it was before the answer."));
    await expectSeen(page().getByText("Needs you."));
    await page().goto(at("/stories"));
    await expectSeen(
      page()
        .getByRole("region", { name: /^Needs you 1/ })
        .getByRole("link", { name: "Count the words" }),
    );
  });

  test("continues when resumed; a disputed finding goes to an independent reviewer, who rejects it", async () => {
    await dispute();
    await expectSeen(page().getByRole("region", { name: "Answered" }).getByRole("button", { name: "Undo" }));
    await page().getByRole("button", { name: "Resume", exact: true }).click();
    await expectSeen(page().getByText("Resumed: a running engine continues with it, otherwise remand run does."));
    await expectSeen(page().locator(".head .badge", { hasText: "accepted" }), 45_000);
    expect(
      await page()
        .getByRole("button", { name: /^(?:Pause$|Resume$|Undo)/ })
        .count(),
    ).toBe(0);
    await page().getByText("raw events", { exact: true }).click();
    const ruling = page().locator(".raw").filter({ hasText: "adjudicat" });
    await ruling.locator("summary").last().click();
    await expectSeen(ruling.getByText('"upheld": false', { exact: false }));

    // Accepted work is merged by a button that asks for confirmation.
    await page().getByRole("button", { name: "Merge…" }).click();
    await expectSeen(page().getByText(/Merge the commit that passed the gates \([0-9a-f]{8}\), in your name/));
    await expectAccessible();
    await page().getByRole("button", { name: "Merge", exact: true }).click();
    await expectSeen(page().getByText(/Delivered: main at [0-9a-f]{12}, approved by ada/), 45_000);
    expect(project.repository.git("show", "main:src/words.js")).toContain("export const words");
    expect(await page().getByRole("button", { name: "Merge…" }).count()).toBe(0);
  });
});

describe("a running story", () => {
  test("is paused, and its running step is ended", async () => {
    project.repository.write("stories/think-long.md", slowStory);
    await visit(url);
    await expectSeen(page().getByRole("link", { name: "Think about it" }).first(), 30_000);
    await page().goto(new URL("/story/think-long", url).href);
    await expectSeen(page().getByRole("tab", { name: /^Attempt 1 / }), 30_000);
    await page().getByRole("button", { name: "Pause and stop what runs" }).click();
    await expectSeen(page().getByText("Paused: what runs for it is ended, and nothing new starts."));
    await expectSeen(
      page()
        .locator(".timeline")
        .getByText(/interrupted|stopped/)
        .first(),
      30_000,
    );
    await expectSeen(page().getByRole("button", { name: "Resume", exact: true }));
    expect(await page().getByRole("button", { name: "Pause and stop what runs" }).count()).toBe(0);

    // An action is a button that opens its form; an answer can be undone.
    await page().getByRole("button", { name: "Send back…" }).focus();
    await page().keyboard.press("Enter");
    await page().getByLabel("Instructions for the next attempt").fill("think less");
    await expectAccessible();
    await page().getByRole("button", { name: "Send back", exact: true }).click();
    const receipt = page().locator(".receipt").filter({ hasText: "Send back: think-long, as ada" });
    await expectSeen(receipt);
    await receipt.getByRole("button", { name: "Undo" }).click();
    await expectSeen(page().getByText("Undone: think-long is as it was before the answer.").first());
  });
});

describe("five thousand stories", () => {
  const folder = mkdtempSync(join(tmpdir(), "remand-many-"));
  let many: string;
  beforeAll(async () => {
    const { root, file } = await longJournal(folder, MANY);
    await addLongStory(file);
    many = (await project.serve("-C", root)).url;
  });
  beforeEach(async () => {
    await visit(many);
    await expectSeen(page().getByRole("heading", { name: "Now", exact: true }));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("are filtered while typing, on the board and in the list, page by page", async () => {
    await page().goto(new URL("/stories", many).href);
    await expectSeen(page().getByText(`${ALL} stories`, { exact: false }));
    const filter = page().getByRole("searchbox", { name: "Filter stories" });
    await filter.pressSequentially("story-4321");
    await expect.poll(() => page().locator(".card").count()).toBe(1);
    await expectSeen(page().getByRole("link", { name: "Retry the payment of story-4321" }));

    await page().getByText("list", { exact: true }).click();
    await expectSeen(page().getByText("1 story", { exact: true }));
    await filter.fill("");
    await expectSeen(page().getByText(`${ALL} stories`, { exact: true }));
    // Only visible rows are drawn; one key leads to the end.
    expect(await page().locator(".virtual-row").count()).toBeLessThan(60);
    await page().getByRole("table", { name: "Stories" }).focus();
    await page().keyboard.press("End");
    await expectSeen(page().locator(`[aria-rowindex="${ALL + 1}"] .virtual-title`));
    await filter.fill("story-49");
    await expectSeen(page().getByText("111 stories", { exact: true }));
    await page()
      .getByRole("button", { name: /^Waiting 111$/ })
      .click();
    await expect.poll(() => page().url()).toContain("column=idle");
    await page().getByRole("button", { name: "Save view" }).click();
    await page().getByLabel("Name of the view").fill("forty-nine");
    await page().keyboard.press("Enter");
    await expectAccessible();
    // A column without stories has no button; one click shows all columns.
    expect(await page().getByRole("button", { name: /^Done/ }).count()).toBe(0);
    await filter.fill("story-49 nothing-has-this-word");
    await expectSeen(page().getByText("No story matches", { exact: true }));
    expect(await page().locator(".virtual-row").count()).toBe(0);
    await filter.fill("story-49");
    await expectSeen(page().getByText("111 stories", { exact: true }));
    await page()
      .getByRole("button", { name: /^All \d+$/ })
      .click();
    await expect.poll(() => page().url()).not.toContain("column=");
    await page().getByRole("link", { name: "forty-nine" }).click();
    await expectSeen(page().getByText("111 stories", { exact: true }));
    await page().getByRole("button", { name: "Delete view" }).click();
    await expect.poll(() => page().getByRole("link", { name: "forty-nine" }).count()).toBe(0);
  });

  test("are paused and abandoned several at a time, by keyboard only", async () => {
    await page().goto(new URL("/stories?view=list&q=story-49", many).href);
    await expectSeen(page().locator(".virtual-title").first());
    await page().locator("#main").focus();
    for (const _ of [1, 2]) {
      await page().keyboard.press("j");
      await page().keyboard.press("x");
    }
    const group = page().getByRole("group", { name: "Selected stories" });
    await expectSeen(group.getByText("2 selected"));
    await expectAccessible();
    await group.getByRole("button", { name: "Pause" }).focus();
    await page().keyboard.press("Enter");
    await expectSeen(page().locator(".receipt").filter({ hasText: "Paused 2 stories." }));
    await expect.poll(() => page().locator(".virtual-row .badge", { hasText: "paused" }).count()).toBe(2);
    await page().locator("#main").focus();
    await page().keyboard.press("j");
    await page().keyboard.press("x");
    await group.getByRole("button", { name: "Abandon…" }).focus();
    await page().keyboard.press("Enter");
    await page().keyboard.type("not needed");
    await page().keyboard.press("Tab");
    await page().keyboard.press("Enter");
    await expectSeen(
      page()
        .locator(".receipt")
        .filter({ hasText: /^Abandon: story-49\d*, as/ }),
    );
  });

  test("a story of a thousand events shows the newest first, and all of them on request", async () => {
    await page().goto(new URL(`/story/${LONG_STORY}`, many).href);
    await expectSeen(page().getByRole("tabpanel", { name: /^Attempt 143 / }));
    expect(await page().getByRole("tab").count()).toBe(8);
    await page().getByRole("button", { name: "135 earlier" }).click();
    await page()
      .getByRole("tab", { name: /^Attempt 1 / })
      .click();
    await expectSeen(page().getByRole("tabpanel", { name: /^Attempt 1 / }));
    await page().getByText("raw events", { exact: true }).click();
    await expectSeen(page().getByRole("button", { name: "900 earlier" }));
    await page().getByRole("button", { name: "900 earlier" }).click();
    await page().getByRole("button", { name: "400 earlier" }).click();
    await expect.poll(() => page().locator(".raw").count()).toBe(1000);
  });
});
