/**
 * Draws the guide's pictures of the dashboard from a real run with scripted agents:
 * `npm run build && npm run tools && node .build/scripts/draw-dashboard.js`.
 */
import type { Page } from "playwright-core";
import { launch } from "../test/web/browser.ts";
import { dashboardProject } from "../test/web/dashboard-project.ts";

interface Picture {
  readonly name: string;
  readonly path: string;
  readonly there: string;
  readonly height: number;
  readonly scheme: "light" | "dark";
  prepare?(page: Page): Promise<void>;
}

/** Every page, in the order in which the guide tells of them. */
const PICTURES: readonly Picture[] = [
  { name: "board", path: "/", there: ".card", height: 640, scheme: "light" },
  { name: "story", path: "/story/cap-the-wait", there: ".timeline li", height: 1100, scheme: "light" },
  {
    name: "diff",
    path: "/story/cap-the-wait/diff?attempt=1",
    there: ".blame",
    height: 560,
    scheme: "dark",
    prepare: (page) => page.getByText("Why this blame").click(),
  },
  { name: "ledger", path: "/ledger", there: ".chart", height: 820, scheme: "light" },
  {
    name: "inbox",
    path: "/inbox",
    there: ".question",
    height: 1120,
    scheme: "light",
    prepare: async (page) => {
      await page.getByRole("radio", { name: /^send-back/ }).check();
      await page.getByLabel("Your words").fill("A point, as in 12.50: see the importer's own example.");
    },
  },
  { name: "trail", path: "/trail", there: ".raw", height: 640, scheme: "dark" },
  { name: "health", path: "/health", there: ".probes li", height: 640, scheme: "light" },
];

const project = dashboardProject();
await project.run();
const [{ url, port }, browser] = await Promise.all([project.serve(), launch()]);
try {
  for (const { name, path, there, height, scheme, prepare } of PICTURES) {
    const page = await browser.newPage({ viewport: { width: 1300, height }, colorScheme: scheme });
    await page.goto(url);
    await page.goto(`http://127.0.0.1:${port}${path}`);
    await page.locator(there).first().waitFor();
    await prepare?.(page);
    await page.evaluate("document.activeElement.blur(); scrollTo(0, 0)");
    await page.screenshot({ path: `docs/dashboard-${name}.png` });
    await page.close();
  }
} finally {
  await browser.close();
  await project.clear();
}
