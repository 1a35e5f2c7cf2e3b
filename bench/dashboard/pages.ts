import { setTimeout as pause } from "node:timers/promises";
import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Page } from "playwright-core";
import { createOutputRing } from "../../src/adapters/evidence/output-ring.ts";
import { stateFolder } from "../../src/compose/state-folder.ts";
import { storyId } from "../../src/core/events/ids.ts";
import { median, type BenchResult } from "../bench-result.ts";
import { LONG_STORY } from "./long-story.ts";
import type { BenchServer } from "./served.ts";
import { writeTo } from "./writing.ts";

const ROUNDS = 5;
const PER_SECOND = 50;
const SECONDS = 10;

/**
 * Measures in a real browser how fast pages of ten thousand stories load, scroll and filter, and how they handle a
 * flood of output.
 */
export async function measurePages(server: BenchServer, file: string, root: string): Promise<readonly BenchResult[]> {
  const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-zygote", "--js-flags=--expose-gc"];
  const browser = await playwright.launch({ executablePath: await chromium.executablePath(), args, headless: true });
  try {
    const page = await browser.newPage();
    const empty = await emptyPage(page);
    await page.goto(server.url);
    const board = await opening(page, `${server.origin}/stories`, ".card");
    const story = await opening(page, `${server.origin}/story/story-0`, ".timeline li");
    const long = await opening(page, `${server.origin}/story/${LONG_STORY}`, ".timeline li");
    await page.goto(`${server.origin}/stories?view=list`);
    await page.locator(".virtual-title").first().waitFor();
    const scrollMs = await scrolling(page);
    const filterMs = await filtering(page);
    await page.goto(`${server.origin}/stories`);
    await page.locator(".card").first().waitFor();
    const { fps, grownMb } = await updating(page, file);
    const output = await printing(page, server.origin, root);
    const result = (name: string, value: number, unit: string, ratio: number, against: string): BenchResult => ({
      name: `dashboard: ${name}`,
      value,
      unit,
      ratio,
      against,
      limit: 1,
    });
    return [
      result("board of 10,000 stories", board, "ms", board / 1000, "1 s"),
      result("a story among 10,000", story, "ms", story / 500, "500 ms"),
      result("a story of 1,000 events", long, "ms", long / 500, "500 ms"),
      result(
        "scrolling 10,000 stories, p95 of a frame's work",
        scrollMs,
        "ms",
        scrollMs / 16,
        `16 ms; an empty page takes ${empty.scrollMs.toFixed(0)} ms`,
      ),
      result("keystroke to filtered, 10,000 stories", filterMs, "ms", filterMs / 100, "100 ms"),
      result(
        "board at 50 lines/s",
        fps,
        "fps",
        (0.9 * empty.fps) / fps,
        `90 % of an empty page's ${empty.fps.toFixed(0)} fps`,
      ),
      result("page memory after 500 lines", grownMb, "MB", grownMb / 10, "10 MB more"),
      result(
        "output of 20 agents at 50 lines/s",
        output.fps,
        "fps",
        (0.9 * empty.fps) / output.fps,
        `90 % of an empty page's ${empty.fps.toFixed(0)} fps`,
      ),
      result("page memory after 10,000 lines of output", output.grownMb, "MB", output.grownMb / 10, "10 MB more"),
    ];
  } finally {
    await browser.close();
  }
}

/** The floor of the machine, measured on an empty page: frames, and a scroll that draws nothing. */
async function emptyPage(page: Page): Promise<{ fps: number; scrollMs: number }> {
  await page.setContent(`<div class="virtual" style="height: 600px; overflow: auto"><div style="height: 460000px">`);
  const scrollMs = await scrolling(page);
  const { fps } = await watching(page, () => Promise.resolve(), 3);
  return { fps, scrollMs };
}

/** The page's work per frame during a long scroll: from the event to the end of the next frame. */
async function scrolling(page: Page): Promise<number> {
  const times = await page.evaluate<number[]>(`new Promise((done) => {
    const box = document.querySelector(".virtual");
    const times = [];
    const step = () => {
      if (times.length >= 240) return done(times);
      const start = performance.now();
      box.scrollTop += 400;
      box.dispatchEvent(new Event("scroll"));
      // What the page does for it is done before the next task.
      setTimeout(() => { box.getBoundingClientRect(); times.push(performance.now() - start); requestAnimationFrame(step); }, 0);
    };
    step();
  })`);
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0;
}

async function filtering(page: Page): Promise<number> {
  const times: number[] = [];
  const filter = page.getByRole("searchbox", { name: "Filter stories" });
  for (let round = 0; round < ROUNDS; round++) {
    await filter.fill("");
    await page.getByText(/^10002 stories$/).waitFor();
    await filter.fill("story-432");
    times.push(
      await page.evaluate<number>(`new Promise((done) => {
        const input = document.querySelector("input[type=search]");
        const start = performance.now();
        input.value = "story-4321";
        input.dispatchEvent(new Event("input", { bubbles: true }));
        const look = () => document.querySelectorAll(".virtual-title").length === 1 ? done(performance.now() - start) : requestAnimationFrame(look);
        look();
      })`),
    );
  }
  return median(times);
}

const AGENTS = 20;

/** Twenty panes side by side, each with fifty new lines per second. */
async function printing(page: Page, origin: string, root: string): Promise<{ fps: number; grownMb: number }> {
  const stories = Array.from({ length: AGENTS }, (_, index) => storyId(`story-${index}`));
  const ring = createOutputRing({ folder: stateFolder(root).output, now: Date.now });
  const print = (count: number): void => {
    for (const story of stories)
      for (let line = 0; line < count; line++)
        ring.add(story, "attempt 2", `${line} ${"of what it prints ".repeat(4)}`);
  };
  print(400);
  await page.goto(`${origin}/live?of=${stories.join(",")}`);
  await page.locator(".output-line").first().waitFor();
  await pause(1500);
  try {
    return await watching(page, () => Promise.resolve(print(PER_SECOND / 10)));
  } finally {
    await ring.close();
  }
}

async function opening(page: Page, address: string, there: string): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    await page.goto("about:blank");
    const start = performance.now();
    await page.goto(address, { waitUntil: "commit" });
    await page.locator(there).first().waitFor();
    if (round > 0) times.push(performance.now() - start);
  }
  return median(times);
}

async function updating(page: Page, file: string): Promise<{ fps: number; grownMb: number }> {
  const writing = await writeTo(file);
  try {
    return await watching(page, () => writing.lines(PER_SECOND / 10));
  } finally {
    await writing.close();
  }
}

/** Frames and memory of the page while something happens ten times per second. */
async function watching(
  page: Page,
  happen: () => Promise<unknown>,
  seconds = SECONDS,
): Promise<{ fps: number; grownMb: number }> {
  const heapMb = (): Promise<number> => page.evaluate("(gc(), performance.memory.usedJSHeapSize / 1e6)");
  const before = await heapMb();
  await page.evaluate(
    "globalThis.frames_ = 0; const count = () => { frames_++; requestAnimationFrame(count); }; count()",
  );
  const start = performance.now();
  for (let i = 0; i < seconds * 10; i++) {
    await happen();
    await pause(Math.max(0, (i + 1) * 100 - (performance.now() - start)));
  }
  const frames = await page.evaluate<number>("frames_");
  const fps = frames / ((performance.now() - start) / 1000);
  return { fps, grownMb: Math.max(0, (await heapMb()) - before) };
}
