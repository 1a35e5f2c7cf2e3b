import axe from "axe-core";
import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser, type Page } from "playwright-core";

/** Its own list switches off what these tests are about: a page's origin, and what it may load. */
const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-zygote"];

export async function launch(): Promise<Browser> {
  return playwright.launch({ executablePath: await chromium.executablePath(), args: ARGS, headless: true });
}

/** What axe has against the page, in a line each; by the rules of WCAG 2.2 up to AA. */
export async function complaints(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  // Wait for transitions to end: a color halfway between two others must not be checked for contrast.
  await page.evaluate("Promise.allSettled(document.getAnimations().map((each) => each.finished))");
  return page.evaluate(async () => {
    const { axe: there } = globalThis as unknown as { axe: { run(options: object): Promise<AxeResult> } };
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const { violations } = await there.run({ runOnly: tags });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, html }) => `${id}: ${target.join(" ")} ${html.slice(0, 160)}`),
    );
  });
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly target: readonly string[]; readonly html: string }[];
  }[];
}
