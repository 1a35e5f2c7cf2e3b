import { setTimeout as pause } from "node:timers/promises";
import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Page } from "playwright-core";
import { median, type BenchResult } from "../bench-result.ts";
import { LONG_STORY } from "./long-story.ts";
import type { BenchServer } from "./served.ts";
import { writeTo } from "./writing.ts";

const ROUNDS = 5;
const PER_SECOND = 50;
const SECONDS = 10;

/** In a real browser: how soon the board of thousands of stories is there, and how it bears fifty lines a second. */
export async function measurePages(server: BenchServer, file: string): Promise<readonly BenchResult[]> {
  const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-zygote", "--js-flags=--expose-gc"];
  const browser = await playwright.launch({ executablePath: await chromium.executablePath(), args, headless: true });
  try {
    const page = await browser.newPage();
    await page.goto(server.url);
    const board = await opening(page, server.origin, ".card");
    const story = await opening(page, `${server.origin}/story/story-0`, ".timeline li");
    const long = await opening(page, `${server.origin}/story/${LONG_STORY}`, ".timeline li");
    await page.goto(server.origin);
    await page.locator(".card").first().waitFor();
    const { fps, grownMb } = await updating(page, file);
    const result = (name: string, value: number, unit: string, ratio: number, against: string): BenchResult => ({
      name: `dashboard: ${name}`,
      value,
      unit,
      ratio,
      against,
      limit: 1,
    });
    return [
      result("board of 5,000 stories", board, "ms", board / 1000, "1 s"),
      result("a story among 5,000", story, "ms", story / 500, "500 ms"),
      result("a story of 1,000 events", long, "ms", long / 500, "500 ms"),
      result("board at 50 lines/s", fps, "fps", 30 / fps, "30 fps"),
      result("page memory after 500 lines", grownMb, "MB", grownMb / 10, "10 MB more"),
    ];
  } finally {
    await browser.close();
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
  const heapMb = (): Promise<number> => page.evaluate("(gc(), performance.memory.usedJSHeapSize / 1e6)");
  try {
    const before = await heapMb();
    await page.evaluate(
      "globalThis.frames_ = 0; const count = () => { frames_++; requestAnimationFrame(count); }; count()",
    );
    const start = performance.now();
    for (let i = 0; i < SECONDS * 10; i++) {
      await writing.lines(PER_SECOND / 10);
      await pause(Math.max(0, (i + 1) * 100 - (performance.now() - start)));
    }
    const frames = await page.evaluate<number>("frames_");
    const fps = frames / ((performance.now() - start) / 1000);
    return { fps, grownMb: Math.max(0, (await heapMb()) - before) };
  } finally {
    await writing.close();
  }
}
