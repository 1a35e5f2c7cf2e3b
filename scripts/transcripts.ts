/**
 * Runs the pages of `docs/guide/sources` and writes the output of their commands into them: `npm run transcripts`.
 *
 * Each page plays one of the source documents with its preset, on a small project of three stories with scripted
 * agents. With names (`npm run transcripts -- s1 s3`) only those pages. The exit code is 1 if a command of a page ended
 * with another code than the page says; that page is then left unchanged.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { transcriptOf } from "../test/docs/transcript.ts";
import { keepTestToken, TEST_TOKEN } from "../test/kit/test-token.ts";

const pages = resolve("docs/guide/sources");
const wanted = process.argv.slice(2);
const state = mkdtempSync(join(tmpdir(), "remand-transcripts-"));
// The person who answers in a transcript has no terminal, so a token identifies them.
keepTestToken(state);
process.env["XDG_STATE_HOME"] = state;
process.env["REMAND_TOKEN"] = TEST_TOKEN;
try {
  for (const name of readdirSync(pages).sort()) {
    if (!name.endsWith(".md") || (wanted.length > 0 && !wanted.includes(name.replace(/\.md$/, "")))) continue;
    const file = join(pages, name);
    const before = readFileSync(file, "utf8");
    try {
      const after = transcriptOf(before, resolve("dist/main.js"));
      writeFileSync(file, after);
      console.log(`${after === before ? "unchanged" : "written  "}  docs/guide/sources/${name}`);
    } catch (error) {
      console.error(`failed     docs/guide/sources/${name}: ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(state, { recursive: true, force: true });
}
