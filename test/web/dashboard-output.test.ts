/** Output of agents and checks, followed in a real browser while an engine writes it. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOutputRing } from "../../src/adapters/evidence/output-ring.ts";
import { storyId } from "../../src/core/events/ids.ts";
import { useBrowser } from "./browser-page.ts";
import { dashboardProject, projectFiles, slowParts, slowStory } from "./dashboard-project.ts";

const kept = /^stories\/(?:greet-by-name|think-long)\.md$/;
const files = projectFiles({ "stories/think-long.md": slowStory }, slowParts);
const project = dashboardProject(
  Object.fromEntries(Object.entries(files).filter(([path]) => !path.startsWith("stories/") || kept.test(path))),
);
const { page, visit, expectSeen, expectAccessible } = useBrowser();
let url: string;

beforeAll(async () => {
  project.start("run", "--reporter", "minimal");
  ({ url } = await project.serve());
});
afterAll(() => project.clear());

const at = (path: string): string => new URL(path, url).href;

async function print(...lines: readonly string[]): Promise<void> {
  const ring = createOutputRing({ folder: join(project.repository.root, ".remand", "output"), now: Date.now });
  for (const line of lines) ring.add(storyId("think-long"), "attempt 1", line);
  await ring.close();
}

describe("output", () => {
  test("of a story is shown live: tool calls folded, colors kept, no code executed", async () => {
    await visit(url);
    await expectSeen(page().locator(".work").filter({ hasText: "Think about it" }));
    await print("\u001b[31mred\u001b[0m <img src=x onerror=\"document.title='owned'\">");
    await page().goto(at("/story/think-long"));
    const log = page().getByRole("log", { name: "output of think-long" });
    await expectSeen(log.getByText("<img src=x", { exact: false }));
    expect(await log.locator(".ansi-red").innerText()).toBe("red");
    await print("I will look first.", "→ Read: src/a.js", "→ Grep: sendMail", "→ Edit: src/b.js");
    const calls = log.locator(".output-tools");
    await expectSeen(calls.getByText("3 tool calls, the last → Edit: src/b.js"));
    await calls.locator("summary").focus();
    await page().keyboard.press("Enter");
    await expectSeen(calls.getByText("→ Grep: sendMail"));
    expect(await page().title()).not.toContain("owned");
    expect(await log.locator("img").count()).toBe(0);
    await expectAccessible();
  });

  test("can be searched, and stops following when a person scrolls up", async () => {
    await print(...Array.from({ length: 200 }, (_, line) => `line ${line} of many`));
    const log = page().getByRole("log", { name: "output of think-long" });
    await expectSeen(log.getByText("line 199 of many"));
    const follow = page().getByRole("checkbox", { name: "Follow output of think-long" });
    expect(await follow.isChecked()).toBe(true);
    await log.focus();
    await page().keyboard.press("Home");
    await expect.poll(() => follow.isChecked()).toBe(false);
    await print("the newest");
    await expectSeen(log.getByText("the newest"));
    expect(await log.evaluate((element: { scrollTop: number }) => element.scrollTop)).toBe(0);
    await follow.check();
    await expect.poll(() => log.evaluate((element: { scrollTop: number }) => element.scrollTop)).toBeGreaterThan(100);
    await page().getByRole("searchbox", { name: "Search output of think-long" }).fill("LINE 42");
    await expectSeen(page().getByText(/^1 of \d+ lines match$/));
    expect(await log.locator(".output-line").allInnerTexts()).toEqual(["line 42 of many"]);
    expect(await log.locator("mark").innerText()).toBe("line 42");
  });

  test("of all running stories is shown side by side, and becomes evidence at the end", async () => {
    await page().goto(at("/"));
    await page().getByRole("link", { name: "Watch all" }).click();
    await expectSeen(page().getByRole("log", { name: "output of think-long" }).getByText("the newest"));
    await print("one more");
    await expectSeen(page().getByRole("log", { name: "output of think-long" }).getByText("one more"));
    await expectAccessible();
    await page().goto(at("/story/greet-by-name"));
    await expectSeen(page().getByRole("log", { name: "output of greet-by-name" }).getByText("It greets."));
    await expectSeen(
      page()
        .getByRole("log")
        .getByText(/pass \d/)
        .first(),
    );
  });
});
