/**
 * Takes screenshots of every page of the dashboard, from a real run with scripted agents: one story running, some
 * asking, some done. `npm run build && npm run tools`, then `node .build/scripts/pictures.js <folder>`: each page at
 * 1440, 1024 and 390 pixels, light and dark; and the output of `remand`, `status`, `inbox` and `top` as text, in
 * terminals of 80 and of 200 columns.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { plainText } from "../src/stdx/plain-text.ts";
import { launch } from "../test/web/browser.ts";
import {
  dashboardProject,
  disputedParts,
  disputedStory,
  projectFiles,
  slowParts,
  slowStory,
} from "../test/web/dashboard-project.ts";

interface Shot {
  readonly name: string;
  readonly path: string;
  /** A selector for content of the loaded page. */
  readonly there: string;
}

const PAGES: readonly Shot[] = [
  { name: "now", path: "/", there: ".need" },
  { name: "question", path: "/question/esc-billing-export-1", there: ".choice" },
  { name: "stories", path: "/stories", there: ".card" },
  { name: "list", path: "/stories?view=list", there: ".virtual-title" },
  { name: "graph", path: "/graph", there: ".graph-box" },
  { name: "live", path: "/live", there: ".output" },
  { name: "story", path: "/story/cap-the-wait?attempt=1", there: ".judged > li" },
  { name: "story-asking", path: "/story/billing-export", there: ".judged > li" },
  { name: "diff", path: "/story/cap-the-wait/diff?attempt=1", there: ".blame" },
  { name: "cost", path: "/cost", there: ".chart" },
  { name: "events", path: "/events", there: ".raw" },
  { name: "settings", path: "/settings", there: ".probes > li" },
];

const WIDTHS = [
  [1440, 900],
  [1024, 768],
  [390, 844],
] as const;
const SCHEMES = ["light", "dark"] as const;

const waiting = (title: string, ...after: string[]): string =>
  `---\ntitle: ${title}\ndepends_on: [${after.join(", ")}]\n---\n\n- [ ] it works\n`;

/** These stories wait for the story that asks, so that the pages show dependencies. */
const DEPENDENTS = {
  "stories/mail-totals.md": waiting("Mail the totals every month", "totals-page"),
  "stories/archive-mails.md": waiting("Archive what was mailed", "mail-totals", "greet-by-name"),
  "stories/import-invoices.md": waiting("Read invoices from CSV", "billing-export"),
};

const files = projectFiles({ ...disputedStory, ...DEPENDENTS, "stories/think-long.md": slowStory }, [
  ...disputedParts,
  ...slowParts,
]);

async function takeAll(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const project = dashboardProject(files);
  const browser = await launch();
  try {
    project.start("run", "--watch", "--reporter", "minimal");
    const { url, token } = await project.serve();
    await untilSettled(url, token);
    for (const columns of [80, 200])
      for (const command of ["", "status", "inbox", "top"])
        writeFileSync(
          `${folder}/terminal-${command || "remand"}-${columns}.txt`,
          await shownInTerminal(project.repository, command, columns),
        );
    for (const [width, height] of WIDTHS)
      for (const scheme of SCHEMES)
        await takePages(browser, url, {
          width,
          height,
          scheme,
          file: (name) => `${folder}/${name}-${width}-${scheme}.png`,
        });
  } finally {
    await browser.close();
    await project.clear();
  }
}

interface Look {
  readonly width: number;
  readonly height: number;
  readonly scheme: "light" | "dark";
  file(name: string): string;
}

async function takePages(browser: Browser, url: string, look: Look): Promise<void> {
  const { width, height, scheme, file } = look;
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
  await page.goto(url);
  for (const { name, path, there } of PAGES) {
    await page.goto(new URL(path, url).href);
    await page.locator(there).first().waitFor();
    await page.locator(".engine").waitFor();
    await page.screenshot({ path: file(name) });
  }
  await page.close();
}

/** The terminal's content; for a command that redraws, its last screen. `q` quits `top` and the inbox's picker. */
async function shownInTerminal(
  { root, env }: { readonly root: string; readonly env: NodeJS.ProcessEnv },
  command: string,
  columns: number,
): Promise<string> {
  const program = `${process.execPath} ${resolve("dist/main.js")} ${command}`;
  const child = spawn("script", ["-qec", `stty cols ${columns} rows 24; exec ${program}`, "/dev/null"], {
    cwd: root,
    env: { ...env, USER: "ada", TERM: "xterm", SHELL: "/bin/sh", CI: "" },
  });
  let shown = "";
  child.stdout.on("data", (data) => (shown += String(data)));
  const ended = once(child, "exit");
  const leaving = setInterval(() => child.stdin.write("q"), 4000);
  await ended;
  clearInterval(leaving);
  const screens = shown.split("\u001b[?2026h");
  return `${plainText(screens.at(-1)!).trimEnd()}\n`;
}

/** Waits until every story but the long one is done or asks a question. */
async function untilSettled(url: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  for (let tries = 0; tries < 240; tries++) {
    const response = await fetch(new URL("/api/board", url), { headers });
    const { counts } = (await response.json()) as { counts: Record<string, number> };
    if (counts["accepted"] === 2 && counts["needsYou"] === 2 && counts["running"] === 1) return;
    await sleep(500);
  }
  throw new Error("the run did not settle within 2 minutes");
}

await takeAll(process.argv[2] ?? "pictures");
