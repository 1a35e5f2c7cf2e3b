import axe from "axe-core";
import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser, type Page } from "playwright-core";

/** The default arguments would switch off what these tests check: a page's origin, and what it may load. */
const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-zygote"];

export async function launch(): Promise<Browser> {
  return playwright.launch({ executablePath: await chromium.executablePath(), args: ARGS, headless: true });
}

/** The violations that axe finds on the page, one per line, by the rules of WCAG 2.2 up to AA. */
export async function complaints(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(axe.source);
  // A color in the middle of a transition must not be checked for contrast. Transitions are finished instead of
  // awaited, because a page that draws no frame never ends one.
  await page.evaluate("document.getAnimations().forEach((each) => each.finish())");
  return page.evaluate(async () => {
    const { axe: there } = globalThis as unknown as { axe: { run(options: object): Promise<AxeResult> } };
    const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const { violations } = await there.run({ runOnly, resultTypes: ["violations"] });
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
