import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { complaints, launch } from "./browser.ts";

/** One browser for a test file, and a fresh page for each visit. */
export interface BrowserPage {
  page(): Page;
  context(): BrowserContext;
  /** A new page of a person who opens the address for the first time. */
  visit(
    url: string,
    options?: Parameters<Browser["newContext"]>[0],
    prepare?: (page: Page) => Promise<unknown>,
  ): Promise<Page>;
  expectSeen(what: Locator, timeout?: number): Promise<void>;
  /** Checks the current page in light and dark mode, on wide screens and phones; and that it fits. */
  expectAccessible(): Promise<void>;
  /** Ignores errors that a test causes on purpose. */
  forgive(text: string): void;
}

const PHONE = { width: 360, height: 740 };

/** Every page must be free of errors when its test ends. */
export function useBrowser(): BrowserPage {
  let browser: Browser;
  let context: BrowserContext | null = null;
  let page: Page;
  let troubles: string[] = [];
  beforeAll(async () => {
    browser = await launch();
  });
  afterEach(() => {
    expect(troubles).toEqual([]);
  });
  afterAll(() => browser?.close());
  return {
    page: () => page,
    context: () => context!,
    visit: async (url, options = {}, prepare = async (): Promise<unknown> => undefined) => {
      await context?.close();
      context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
      context.setDefaultTimeout(15_000);
      page = await context.newPage();
      troubles = [];
      page.on("pageerror", (error) => troubles.push(error.message));
      page.on("console", (message) => (message.type() === "error" ? troubles.push(message.text()) : null));
      await prepare(page);
      await page.goto(url);
      return page;
    },
    // A live page may be redrawn between two checks.
    expectSeen: async (what, timeout = 60_000) => {
      await expect.poll(() => what.isVisible(), { timeout }).toBe(true);
    },
    expectAccessible: async () => {
      const wide = page.viewportSize()!;
      for (const size of [wide, PHONE]) {
        await page.setViewportSize(size);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          expect(await complaints(page), `${page.url()}, ${colorScheme}, ${size.width} pixels`).toEqual([]);
        }
        expect(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
      }
      await page.emulateMedia({ colorScheme: "light" });
      await page.setViewportSize(wide);
    },
    forgive: (text) => {
      troubles = troubles.filter((each) => !each.includes(text));
    },
  };
}
