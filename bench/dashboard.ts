import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { BenchResult } from "./bench-result.ts";
import { addLongStory } from "./dashboard/long-story.ts";
import { measurePages } from "./dashboard/pages.ts";
import { serveFrom, type BenchServer } from "./dashboard/served.ts";
import { measureStreams } from "./dashboard/streams.ts";
import { longJournal } from "./engine/long-journal.ts";

/** The script of the built dashboard; this file itself runs from `.build/bench`. */
const SCRIPT = fileURLToPath(new URL("../../dist/web/assets/app.js", import.meta.url));
const STORIES = 10_000;

/** The dashboard's size, its time to load with thousands of stories, and its memory while streaming. */
export async function run(): Promise<readonly BenchResult[]> {
  mkdirSync(".build", { recursive: true });
  const folder = mkdtempSync(join(process.cwd(), ".build", "bench-dashboard-"));
  const { root, file } = await longJournal(folder, STORIES);
  await addLongStory(file);
  try {
    // Each on its own server, so that one does not affect the memory of the other.
    const pages = await onServer(root, (server) => measurePages(server, file, root));
    const streams = await onServer(root, (server) => measureStreams(server, file));
    return [firstLoad(), ...pages, ...streams];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onServer<T>(root: string, work: (server: BenchServer) => Promise<T>): Promise<T> {
  const server = await serveFrom(root);
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

function firstLoad(): BenchResult {
  const kilobytes = gzipSync(readFileSync(SCRIPT)).byteLength / 1024;
  const against = "100 kB";
  return { name: "dashboard: script, gzip", value: kilobytes, unit: "kB", ratio: kilobytes / 100, against, limit: 1 };
}
