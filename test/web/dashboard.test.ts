/**
 * The dashboard in a real browser, with a journal of real runs: what needs a person, why, and the effect of an answer.
 * Everything that a page shows is also tested at the server; here it is used like a person does.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { complaints } from "./browser.ts";
import { useBrowser } from "./browser-page.ts";
import { dashboardProject, HOSTILE, hostileParts, hostileStory, projectFiles } from "./dashboard-project.ts";

const project = dashboardProject(projectFiles(hostileStory, hostileParts));
const { page, visit, expectSeen, expectAccessible, forgive, context } = useBrowser();
let address: Awaited<ReturnType<typeof project.serve>>;

beforeAll(async () => {
  await project.run();
  address = await project.serve();
});
afterAll(() => project.clear());
beforeEach(() => open());

async function open(options: Parameters<typeof visit>[1] = {}): Promise<void> {
  await visit(address.url, options);
  await expectSeen(page().getByRole("heading", { name: "Now", exact: true }));
}

const at = (path: string): string => `http://127.0.0.1:${address.port}${path}`;
const need = (text: string) => page().locator(".need").filter({ hasText: text });
const column = (name: string) => page().getByRole("region", { name: new RegExp(`^${name}`) });

describe("the dashboard", () => {
  test("keeps the token out of the address, and shows nothing without it", async () => {
    await expect.poll(() => page().url()).toBe(at("/"));
    await expectSeen(page().getByRole("link", { name: /^Export the invoices as CSV/ }));
    const stranger = await context().browser()!.newContext();
    const strange = await stranger.newPage();
    await strange.goto(at("/"));
    await expectSeen(strange.getByRole("heading", { name: "This page needs its token" }));
    expect(await strange.content()).not.toContain("invoices");
    await stranger.close();
  });

  test("shows on one screen what needs a person, why, the cost of each answer, and what has finished", async () => {
    const row = need("invoices");
    await expectSeen(row.getByText("which separator does the importer want").first());
    await expectSeen(row.getByText(/^Review failed 3 of 3 · src\/export.js:3 · blocks 1 story$/));
    await expectSeen(row.getByRole("button", { name: /^Send back… ≈ \$0\.\d\d/ }));
    await expectSeen(page().locator(".engine", { hasText: "No engine" }));
    await expectSeen(page().getByRole("region", { name: "Last finished" }).getByText("Greet people by their name"));
    expect(await page().title()).toBe("(2) Now · Remand");
    expect(await page().locator("link[rel=icon]").getAttribute("href")).toBe("/icon-2.svg");
    expect((await page().request.get(at("/icon-2.svg"))).status()).toBe(200);
    expect(await page().evaluate<number>("document.documentElement.scrollHeight - innerHeight")).toBeLessThanOrEqual(0);
  });

  test("a question shows the code, the attempts as a table, and the recommended answer first", async () => {
    await expectSeen(need("invoices"));
    await page().keyboard.press("j");
    await page().keyboard.press("Enter");
    await expectSeen(page().locator(".code-around .is-found").getByText("return invoices.map", { exact: false }));
    const third = page().getByRole("row").filter({ hasText: "Escaped the quotes in them." });
    await expectSeen(third.getByText("src/export.js:3 which separator does the importer want for decimals?"));
    await expectSeen(third.getByText("$0.14"));
    await expectSeen(page().locator(".choice").first().getByText("recommended"));
    await expectSeen(page().getByText(/into the next brief.*Costs: about \$/));
    // The advised answer is open already.
    await expectSeen(page().locator(".choice").first().getByLabel("Instructions for the next attempt"));
    await expectAccessible();
    await page().locator(".code-around a").click();
    await expect.poll(() => page().locator("tr.is-target .code").innerText()).toContain("return invoices.map");
    expect(await page().locator("tr.is-target").getAttribute("id")).toBe("src/export.js:3");
    // From the story, too: to the question, and from its finding to the line.
    await page().goto(at("/story/billing-export"));
    await page().getByRole("link", { name: "Answer it" }).click();
    await expectSeen(page().locator(".choice").first());
    await page().goBack();
    await page().locator(".story-side .findings a").filter({ hasText: "src/export.js:3" }).first().click();
    await expectSeen(page().locator("tr.is-target"));
  });

  test("finds pages by a few letters, and lists its keys", async () => {
    await page().keyboard.press("?");
    await expectSeen(page().getByRole("dialog", { name: "Keyboard shortcuts" }));
    expect(await complaints(page())).toEqual([]);
    await page().keyboard.press("Escape");
    await page().keyboard.press("Control+k");
    await expectSeen(page().getByRole("combobox", { name: "Search pages and stories" }));
    await page().keyboard.type("greet");
    await expectSeen(page().getByRole("option", { name: /Greet people/ }));
    expect(await complaints(page())).toEqual([]);
    await page().keyboard.press("Enter");
    await expectSeen(page().getByRole("heading", { name: "Greet people by their name" }));
    await page().keyboard.press("g");
    await page().keyboard.press("s");
    await expectSeen(page().getByRole("heading", { name: "Stories", exact: true }));
  });

  test("an unknown address shows an error with a link", async () => {
    const response = await page().goto(at("/nowhere"));
    expect(response?.status()).toBe(404);
    await expectSeen(page().getByRole("heading", { name: "There is no page here" }));
    forgive("404");
  });

  test("filters stories, as cards and as a list", async () => {
    await page().goto(at("/stories"));
    const filter = page().getByRole("searchbox", { name: "Filter stories" });
    await filter.fill("src/export.js needs you");
    await expect.poll(() => page().locator(".card").count()).toBe(1);
    await filter.fill("totals");
    await expectSeen(page().locator(".card").getByText("Show the totals of the export"));
    expect(page().url()).toBe(at("/stories?q=totals"));
    await page().getByText("list", { exact: true }).click();
    await expect.poll(() => page().locator(".virtual-title").count()).toBe(1);
    await expectSeen(page().getByRole("cell", { name: "waits for billing-export (needs you)" }));
  });

  test("shows a story with its brief and messages, down to the raw line", async () => {
    await page().goto(at("/story/cap-the-wait"));
    await page().getByRole("tab", { name: "Attempt 3" }).focus();
    await page().keyboard.press("Home");
    const panel = page().getByRole("tabpanel", { name: "Attempt 1" });
    // The failed gate comes first, expanded, with its failing test.
    await expectSeen(panel.locator(".judged > li").first().getByText("checks: fail"));
    await expectSeen(panel.locator(".judged > li").first().getByText("Blocking:").first());
    await expectSeen(panel.getByText(/, proven/).first());
    expect(page().url()).toContain("attempt=1");
    await panel.getByText("What it said").click();
    await expectSeen(panel.getByText("Everything works.", { exact: false }).last());
    await panel.getByText(/^What it changed: \d/).click();
    await expectSeen(panel.locator(".small-diff .added").first());
    await page().keyboard.press("Escape");
    await page().getByRole("tab", { name: "Attempt 1" }).focus();
    await page().keyboard.press("ArrowRight");
    const second = page().getByRole("tabpanel", { name: "Attempt 2" });
    await second.getByText("The brief it got").click();
    await expectSeen(second.locator(".prose").getByText("Gate:", { exact: false }).first());
    await expectSeen(page().locator(".bars li").filter({ hasText: "checks: fail" }).locator("rect.bar-bad").first());
    await expectSeen(page().getByText(/^Blocking findings \d+(?: → \d+)+/));
    await page().getByText("raw events", { exact: true }).click();
    await page().locator(".raw summary").first().click();
    await expectSeen(page().locator(".raw pre").getByText('"type": "story.added"'));
  });

  test("shows on the diff what was blamed, who wrote it, and why", async () => {
    await page().goto(at("/story/cap-the-wait/diff?attempt=1"));
    await expectSeen(page().getByText(/Blamed by checks: proven in \d+ test runs/));
    await page().getByText("Why this blame").click();
    await expectSeen(page().locator(".blame li").first());
    expect(await page().locator(".hunk .author").allInnerTexts()).toContain("attempt 1");
    await page().getByLabel("Up to").selectOption({ label: "now" });
    await expect.poll(() => page().locator(".hunk .author").allInnerTexts()).toContain("attempt 3");
  });

  test("a diff shows the words that changed, side by side, and remembers what was viewed", async () => {
    await page().goto(at("/story/cap-the-wait/diff"));
    await expectSeen(page().locator(".hunk").first());
    // Of two files, the tree brings the one that is clicked below the bar at the top.
    await page().setViewportSize({ width: 1280, height: 300 });
    const tree = page().getByRole("navigation", { name: "Changed files" });
    const file = page().getByRole("region", { name: "test/cap.test.js", exact: true });
    const bottom = async (): Promise<number> =>
      page().evaluate("document.querySelector('.topbar').getBoundingClientRect().bottom");
    expect((await file.boundingBox())!.y).toBeGreaterThan(300);
    await tree.getByRole("link", { name: "cap.test.js" }).click();
    await expect.poll(async () => (await file.boundingBox())!.y).toBeLessThan(300);
    expect((await file.boundingBox())!.y).toBeGreaterThanOrEqual(await bottom());
    await page().setViewportSize({ width: 1280, height: 800 });
    await page().getByRole("slider", { name: "Attempt" }).focus();
    await page().keyboard.press("Home");
    await expect.poll(() => page().url()).toContain("attempt=1");
    await page().getByRole("checkbox", { name: "Side by side" }).check();
    await expectSeen(page().locator(".hunk.is-split").first());
    expect(await complaints(page())).toEqual([]);
    await page().goto(at("/story/billing-export/diff?attempt=2"));
    await expectSeen(page().locator("tr.added mark").first());
    await page().getByRole("checkbox", { name: "Viewed src/export.js" }).check();
    await expect.poll(() => page().locator(".hunk").count()).toBe(0);
    await page().reload();
    expect(await page().getByRole("checkbox", { name: "Viewed src/export.js" }).isChecked()).toBe(true);
  });

  test("comments on lines go back as one brief", async () => {
    await page().goto(at("/story/billing-export/diff"));
    await page().getByRole("button", { name: "Comment on line 2", exact: true }).click();
    await page().getByLabel("Comment on src/export.js:2, for the next attempt").fill("name it rows");
    await page().getByRole("button", { name: "Reply" }).first().click();
    await page().getByLabel("Comment on src/export.js:3, for the next attempt").fill("a point");
    await page().getByRole("button", { name: "Send back with 2 comments" }).focus();
    await page().keyboard.press("Enter");
    const receipt = page().locator(".receipt").filter({ hasText: "Send back: billing-export, as ada" });
    await expectSeen(receipt);
    await receipt.getByRole("button", { name: "Undo" }).click();
    await expectSeen(page().getByText("Undone: billing-export is as it was before the answer."));
  });

  test("shows costs with a table below each chart, and verifies the trail", async () => {
    await page().goto(at("/cost"));
    await expectSeen(page().getByRole("img", { name: /Spent by story/ }));
    await page().getByText("Table: Spent by story").click();
    await expectSeen(page().getByRole("rowheader", { name: "billing-export" }));
    await page().getByText("model", { exact: true }).click();
    await expectSeen(page().getByRole("img", { name: /Spent by model/ }));
    await page().goto(at("/events"));
    await page().getByRole("button", { name: "Questions", exact: true }).click();
    await expect
      .poll(() => page().locator(".raw code:not(.hash)").allInnerTexts())
      .toEqual(Array.from({ length: 2 }, () => "escalation.raised"));
    await page().getByRole("button", { name: "Verify the chain" }).click();
    await expectSeen(page().getByText(/Intact: \d+ lines/));
    await page().goto(at("/settings"));
    const own = page().getByRole("region", { name: "What differs from the defaults" });
    await expectSeen(own.getByRole("rowheader", { name: "preset", exact: true }));
    expect(await own.getByRole("rowheader", { name: "autonomy" }).count()).toBe(0);
    const config = `${project.repository.root}/remand.yaml`;
    const before = readFileSync(config, "utf8");
    writeFileSync(config, `${before}autonomy: full\n`);
    await page().getByRole("button", { name: "Check again" }).click();
    await expectSeen(own.getByRole("rowheader", { name: "autonomy", exact: true }));
    writeFileSync(config, before);
    await page().getByRole("button", { name: "Check again" }).click();
    await expect.poll(() => own.getByRole("rowheader", { name: "autonomy" }).count()).toBe(0);
  });

  test("writes a story that the parser accepts, and edits it", async () => {
    await page().keyboard.press("c");
    await page().getByLabel("Id, in the names").fill("send-mail");
    const text = page().getByRole("textbox", { name: "Story" });
    await text.fill("---\ntitle: Send the mail\ndepends_on: [billing-exprt]\n---\n\n- [ ] it is sent\n");
    await expectSeen(page().getByText(/line 3:.*depends on "billing-exprt".*did you mean "billing-export"/));
    await page().getByRole("button", { name: "Save story" }).click();
    await expectSeen(page().getByText("Nothing was written: fix the errors first."));
    expect(existsSync(`${project.repository.root}/stories/send-mail.md`)).toBe(false);
    expect(await complaints(page())).toEqual([]);
    await text.fill("---\ntitle: Send the mail\nstatus: backlog\n---\n\n- [ ] it is sent\n");
    await page().getByRole("button", { name: "Save story" }).click();
    await expectSeen(page().getByText("Wrote stories/send-mail.md."));
    expect(readFileSync(`${project.repository.root}/stories/send-mail.md`, "utf8")).toContain("title: Send the mail");
    await page().goto(at("/story/totals-page"));
    await page().getByRole("link", { name: "Edit", exact: true }).click();
    await expect.poll(() => text.inputValue()).toContain("depends_on: [billing-export]");
    await page().getByRole("button", { name: "Cancel" }).click();
    await expectSeen(page().getByRole("heading", { name: "Show the totals of the export" }));
  });

  test("draws the dependencies between stories, and moves between them by keys", async () => {
    await page().goto(at("/graph"));
    await expectSeen(page().getByText(/Critical path 2 stories one after the other/));
    for (const key of ["j", "j", "k", "j", "Enter"]) await page().keyboard.press(key);
    await expectSeen(page().getByRole("heading", { name: "Show the totals of the export" }));
  });

  test("executes no text of agents or story files", async () => {
    for (const path of [
      "/",
      "/stories?view=list",
      "/question/esc-hostile-1",
      "/story/hostile",
      "/story/hostile/diff",
      "/events?q=hostile",
    ]) {
      await page().goto(at(path));
      await expectSeen(page().getByText("<img src=x", { exact: false }).first());
      expect(await page().title()).not.toBe("owned");
      expect(await page().locator("#app img:not([src='/icon.svg'])").count()).toBe(0);
      expect(await page().locator("a[href^='javascript:']").count()).toBe(0);
    }
  });

  test("saves a story as one file that opens offline", async () => {
    await page().goto(at("/story/hostile"));
    const [download] = await Promise.all([
      page().waitForEvent("download"),
      page().getByRole("button", { name: "Save as one HTML file" }).click(),
    ]);
    const file = await download.path();
    expect(readFileSync(file, "utf8")).not.toContain("<img");
    await page().goto(at("/stories"));
    const [run] = await Promise.all([
      page().waitForEvent("download"),
      page().getByRole("button", { name: "Save the run as one HTML file" }).click(),
    ]);
    expect(readFileSync(await run.path(), "utf8")).toContain("Greet people by their name");
    const offline = await context().browser()!.newContext({ offline: true });
    const alone = await offline.newPage();
    const asked: string[] = [];
    alone.on("request", (request) => asked.push(request.url()));
    await alone.setContent(readFileSync(file, "utf8"));
    await expectSeen(alone.getByRole("heading", { name: HOSTILE }));
    expect(asked).toEqual([]);
    expect(await complaints(alone)).toEqual([]);
    await offline.close();
  });
});

describe("an answer", () => {
  test("is given by keyboard only, leaves a receipt with Undo, and the run visibly continues", async () => {
    const hostile = need("<img");
    await hostile.getByText("More", { exact: true }).click();
    await hostile.getByRole("button", { name: /^Abandon/ }).click();
    await hostile.getByLabel("Reason, recorded with your name").fill("never mind");
    await hostile.getByRole("button", { name: "Abandon", exact: true }).click();
    const receipt = page().locator(".receipt").filter({ hasText: "Abandon: hostile, as ada. No engine is running" });
    await page()
      .getByRole("link", { name: /^Stories/ })
      .click();
    await expectSeen(receipt);
    await receipt.getByRole("button", { name: "Undo" }).click();
    await expectSeen(page().getByText("Undone: hostile is as it was before the answer."));
    await page().goto(at("/"));
    await expectSeen(hostile);

    await page().getByRole("button", { name: "Start engine" }).click();
    await expectSeen(page().locator(".engine", { hasText: "Engine running" }), 60_000);
    await page().locator("#main").focus();
    await page().keyboard.press("j");
    await page().keyboard.press("1");
    await page().keyboard.type("a point, as in 12.50");
    await page().keyboard.press("Tab");
    await page().keyboard.press("Enter");
    await expect.poll(() => need("invoices").count()).toBe(0);
    await page()
      .getByRole("link", { name: /^Stories/ })
      .click();
    await expectSeen(column("Done").getByRole("link", { name: "Export the invoices as CSV" }), 60_000);
    await page().goto(at("/story/billing-export"));
    await expectSeen(page().getByText("ada (dashboard) says send-back: a point, as in 12.50"));

    // Accepted work is proposed by a button that asks for confirmation.
    await page().getByRole("button", { name: "Open a pull request…" }).focus();
    await page().keyboard.press("Enter");
    await expectSeen(page().getByText(/Push the commit that passed the gates/));
    await page().getByRole("button", { name: "Open a pull request", exact: true }).click();
    await expectSeen(page().getByText(/Delivered: remand\/billing-export; the text of its pull request is/), 60_000);
  });

  test("raises a budget in a familiar unit", async () => {
    await page().goto(at("/question/esc-hostile-1"));
    const hostile = page().getByRole("article");
    await hostile.getByRole("radio", { name: /^Raise the limit/ }).check();
    await hostile.getByLabel("New limit, attempts").fill("4");
    const [answered] = await Promise.all([
      page().waitForResponse("**/api/answers"),
      hostile.getByRole("button", { name: "Raise the limit" }).click(),
    ]);
    expect(await answered.json()).toEqual({ story: "hostile", verb: "raise-budget", by: "ada" });
    await page().goto(at("/story/hostile"));
    await page().getByText("raw events", { exact: true }).click();
    const said = page().locator(".raw").filter({ hasText: "ada (dashboard) says raise-budget" });
    await said.locator("summary").click();
    await expectSeen(said.getByText('"budget": "failures:review"', { exact: false }));
    await expectSeen(said.getByText('"limit": 4', { exact: false }));
  });

  test("waives with a reason, which is never shown as a pass", async () => {
    await expectSeen(need("<img"), 30_000);
    await need("<img").locator("[data-main]").click();
    const hostile = page().getByRole("article");
    await hostile.getByRole("radio", { name: /^Waive/ }).check();
    await hostile.getByLabel("Reason, recorded with your name").fill("a test of ours");
    await hostile.getByRole("button", { name: "Waive", exact: true }).click();
    await expectSeen(page().locator(".receipt").filter({ hasText: "Waive: hostile" }));
    await page().goto(at("/story/hostile"));
    await expectSeen(page().getByText("review waived by ada: a test of ours"));
    await expectSeen(
      page().locator(".gates li").filter({ hasText: "review" }).locator(".badge", { hasText: "waived" }),
    );
  });

  test("is followed live: a new story appears and starts, without a reload", async () => {
    await page().evaluate(() => Object.assign(globalThis, { same: true }));
    project.repository.write("stories/greet-again.md", "---\ntitle: Greet once more\n---\n\nAgain.\n");
    await expectSeen(page().getByRole("link", { name: "Greet once more" }).first(), 30_000);
    expect(await page().evaluate(() => (globalThis as { same?: boolean }).same)).toBe(true);
  });
});

describe("every page", () => {
  const PAGES = [
    ["/", ".box li"],
    ["/stories", ".card"],
    ["/stories?view=list", ".virtual-title"],
    ["/story/cap-the-wait", ".timeline li"],
    ["/story/hostile", ".timeline li"],
    ["/story/old-idea", ".tools button"],
    ["/story/cap-the-wait/diff", ".hunk"],
    ["/cost", ".chart"],
    ["/events", ".raw"],
    ["/settings", ".probes > li"],
    ["/graph", ".graph-box"],
    ["/live", "#main h1"],
    ["/new", "#main textarea"],
    ["/story/totals-page/edit", "#main textarea"],
  ] as const;

  test("is accessible in light and dark mode, on wide screens and phones, and fits", async () => {
    for (const [path, there] of PAGES) {
      await page().goto(at(path));
      await expectSeen(page().locator(there).first());
      await expectAccessible();
    }
  }, 180_000);

  test("is dark if the person chooses dark mode", async () => {
    const paper = (): Promise<string> => page().evaluate<string>("getComputedStyle(document.body).backgroundColor");
    await page().getByLabel("Theme").selectOption("dark");
    const dark = await paper();
    await page().getByLabel("Theme").selectOption("light");
    expect(dark).not.toBe(await paper());
    await page().reload();
    await expect.poll(() => page().getByLabel("Theme").inputValue()).toBe("light");
  });

  test("can be reached by keyboard, with a link to skip the navigation", async () => {
    await page().keyboard.press("Tab");
    await page().keyboard.press("Enter");
    await expect.poll(() => page().evaluate<string>("document.activeElement.id")).toBe("main");
    await page().keyboard.press("Tab");
    await expect.poll(() => page().evaluate<string>('document.activeElement.closest("main")?.id')).toBe("main");
    expect(await page().evaluate<string>("document.activeElement.id")).not.toBe("main");
  });
});
