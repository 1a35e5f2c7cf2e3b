/**
 * The frame of every page, in a real browser: one answer for several questions, an engine that dies, a restarted
 * server, and notifications.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useBrowser } from "./browser-page.ts";
import {
  costlyParts,
  costlyStories,
  crashingParts,
  crashingStory,
  dashboardProject,
  disputedParts,
  disputedStory,
  projectFiles,
  slowParts,
  slowStory,
} from "./dashboard-project.ts";

const LATE = "stories/start-late.md";
const files = projectFiles({ ...disputedStory, ...costlyStories("north", "south"), [LATE]: crashingStory }, [
  ...disputedParts,
  ...slowParts,
  ...crashingParts,
  ...costlyParts("north", "south", "west"),
]);
const kept = /^stories\/(?:billing-export|count-words|north|south|start-late)\.md$/;
const project = dashboardProject(
  Object.fromEntries(Object.entries(files).filter(([path]) => !path.startsWith("stories/") || kept.test(path))),
);
const { page, visit, expectSeen, expectAccessible, forgive, context } = useBrowser();
let address: Awaited<ReturnType<typeof project.serve>>;
let engine: ReturnType<typeof project.start>;

beforeAll(async () => {
  await project.run();
  address = await project.serve();
});
afterAll(() => project.clear());

const need = (text: string) => page().locator(".need[data-row]").filter({ hasText: text });
const receipt = (text: RegExp) => page().locator(".receipt").filter({ hasText: text });

describe("several questions", () => {
  test("with one cause are grouped, take one answer, and one Undo reverts it for all of them", async () => {
    await visit(address.url);
    const both = need("2 stories — Raise the $2.00 budget?");
    await expectSeen(both);
    await expectSeen(page().getByText("Needs you · 5"));
    await expectAccessible();
    await both.getByRole("button", { name: /^Raise to \$6/ }).click();
    const done = receipt(/Raise to \$6.00: north, south, as ada/);
    await expectSeen(done);
    await expectSeen(page().getByText("Needs you · 3"));
    await done.getByRole("button", { name: "Undo" }).click();
    await expectSeen(receipt(/Undone: north .* Undone: south /));
    await expectSeen(page().getByText("Needs you · 5"));
  });

  test("of different causes can be selected with x and answered together, by keyboard only", async () => {
    await visit(address.url);
    await expectSeen(need("invoices"));
    await page().locator("#main").focus();
    for (const name of ["invoices", "Count the words"]) {
      const isThere = `document.activeElement.closest("[data-row]")?.textContent.includes(${JSON.stringify(name)}) === true`;
      while (!(await page().evaluate<boolean>(isThere))) await page().keyboard.press("j");
      await page().keyboard.press("x");
    }
    const together = page().getByRole("group", { name: "Answer the selected questions together" });
    await expectSeen(together.getByText("2 selected"));
    await expectAccessible();
    await together.getByRole("button", { name: /^Send back/ }).focus();
    await page().keyboard.press("Enter");
    await page().keyboard.type("keep it simple");
    await page().keyboard.press("Tab");
    await page().keyboard.press("Enter");
    await expectSeen(receipt(/Send back: (?:billing-export, count-words|count-words, billing-export), as ada/));
    await expectSeen(page().getByText("Needs you · 3"));
    await receipt(/Send back/)
      .getByRole("button", { name: "Undo" })
      .click();
    await expectSeen(page().getByText("Needs you · 5"));
  });
});

describe("a restarted server", () => {
  test("is reached again by open tabs, which keep their token; its new address works in the same tab", async () => {
    const tab = await visit(address.url);
    await expectSeen(need("invoices"));
    await tab.evaluate(() => Object.assign(globalThis, { same: true }));
    await address.stop();
    await expectSeen(tab.getByText("Not connected."));
    await expectAccessible();
    const before = address.token;
    address = await project.serve("--port", String(address.port));
    expect(address.token).not.toBe(before);
    await expect.poll(() => tab.locator(".banner").count()).toBe(0);
    // The page uses the token that the earlier server issued.
    await tab.getByRole("link", { name: /^Stories/ }).click();
    await expectSeen(tab.getByRole("link", { name: "Count the words" }));
    expect(await tab.evaluate(() => (globalThis as { same?: boolean }).same)).toBe(true);
    await tab.goto(address.url);
    await expect.poll(() => tab.evaluate<string>('localStorage.getItem("remand-token")')).toBe(address.token);
    await expectSeen(need("invoices"));
    forgive("ERR_CONNECTION");
    forgive("ERR_INCOMPLETE_CHUNKED_ENCODING");
  });
});

describe("an agent that crashed", () => {
  test("is tried again by one button, without a message", async () => {
    await visit(address.url);
    const row = need("Start after all — The agent crashed 3 times. Can it work now?");
    await row.getByRole("button", { name: "Retry" }).click();
    await expectSeen(receipt(/^Retry: start-late, as ada\. No engine is running: start one to continue\./));
    await expect.poll(() => row.count()).toBe(0);
    await page().getByRole("button", { name: "Start engine" }).click();
    await expectSeen(
      page().getByRole("region", { name: "Last finished" }).getByRole("link", { name: "Start after all" }),
    );
    await project.endEngine();
    await expectSeen(page().locator(".engine", { hasText: "No engine" }));
  });
});

describe("an engine", () => {
  test("that dies is shown at once: a red banner, no story looks active, and it can be restarted", async () => {
    project.repository.write("stories/think-long.md", slowStory);
    engine = project.start("run", "--watch", "--reporter", "minimal");
    // The page's data arrives late: the banner must not be shown earlier.
    await visit(address.url, {}, (fresh) =>
      fresh.route("**/api/now", async (route) => {
        const response = await route.fetch();
        await new Promise((done) => setTimeout(done, 300));
        await route.fulfill({ response });
      }),
    );
    const working = page().locator(".work").filter({ hasText: "Think about it" });
    await expectSeen(working);
    await expectSeen(page().locator(".engine", { hasText: "Engine running" }));
    engine.kill("SIGKILL");
    await expectSeen(page().getByText("The engine is gone."), 10_000);
    await expectSeen(page().locator(".engine", { hasText: "Engine gone" }));
    expect(await page().locator(".work").count()).toBe(0);
    await expectAccessible();
    await page()
      .getByRole("link", { name: /^Stories/ })
      .click();
    await expectSeen(page().getByRole("heading", { name: "Stories", exact: true }));
    expect(
      await page()
        .getByText(/\brunning\b/)
        .count(),
    ).toBe(0);
    await page().getByRole("button", { name: "Start engine" }).click();
    await expectSeen(page().locator(".engine", { hasText: "Engine running" }));
    expect(await page().locator(".banner").count()).toBe(0);
    await page().getByRole("button", { name: "Pause all" }).click();
    await expectSeen(receipt(/^Paused \d+ stories\. What runs ends by itself\./));
    await expectSeen(page().locator(".engine-facts", { hasText: /\d paused/ }));
    await page().getByRole("button", { name: "Resume all" }).click();
    await expectSeen(receipt(/^Resumed \d+ stories\./));
    await expect.poll(() => page().locator(".engine-facts", { hasText: "paused" }).count()).toBe(0);
  });

  test("that asks a question sends a browser notification, if enabled and the page is hidden", async () => {
    const tab = await visit(address.url, { permissions: ["notifications"] }, (fresh) =>
      fresh.addInitScript(() => {
        const shown: { title: string; body: string }[] = [];
        class Recorded extends EventTarget {
          static readonly permission = "granted";
          static requestPermission = (): Promise<string> => Promise.resolve("granted");
          constructor(title: string, { body }: { body: string }) {
            super();
            shown.push({ title, body });
          }
        }
        Object.assign(globalThis, { Notification: Recorded, shown });
      }),
    );
    const shown = (): Promise<readonly { title: string; body: string }[]> =>
      tab.evaluate(() => (globalThis as unknown as { shown: { title: string; body: string }[] }).shown);
    const start = tab.getByRole("button", { name: "Start engine" });
    await expectSeen(tab.locator(".engine"));
    if (await start.isVisible()) await start.click();
    await expectSeen(tab.locator(".engine", { hasText: "Engine running" }));
    await tab.getByRole("checkbox", { name: "Notify me" }).check();
    await tab.evaluate('Object.defineProperty(document, "visibilityState", { get: () => "hidden" })');
    project.repository.write("stories/west.md", costlyStories("west")["stories/west.md"]!);
    await expect.poll(async () => (await shown()).map(({ title }) => title)).toEqual(["Pay for west needs you"]);
    expect((await shown())[0]!.body).toBe("Raise the $2.00 budget?");
    await tab.reload();
    expect(await tab.getByRole("checkbox", { name: "Notify me" }).isChecked()).toBe(true);
    await context().close();
  });
});
