import type { StoredEvent } from "../../ports/journal.ts";
import { UNICODE_GLYPHS, shortLine } from "../../views/text/words.ts";
import { storiesOf, summaryText } from "../../views/run/run-summary.ts";
import { statusOf } from "../../views/story/story-status.ts";
import { inertLines, workflowCommand } from "../../write/reports/problem-text.ts";
import { paintFor } from "../terminal-kind.ts";
import { type ReportedLine, createListener, lineText } from "./listener.ts";
import type { Reporter, ReporterSetting } from "./reporter.ts";

/**
 * Reports for GitHub Actions: collapsible groups, annotations on the lines of the files, and a table on the summary
 * page.
 */
export function createGithubReporter({ world, asked }: ReporterSetting): Reporter {
  const listen = createListener(UNICODE_GLYPHS);
  return {
    onLines(lines, state) {
      for (const line of listen(lines, state)) world.out(workflowText(line));
    },
    onOutput() {
      // Interleaved output of several stories cannot be grouped; it is stored as evidence.
    },
    note: (text) => world.err(text),
    async end(state) {
      const summary = summaryText(state, asked, UNICODE_GLYPHS.dot);
      world.out(`${workflowCommand("notice", { title: "Remand" }, summary)}\n`);
      const file = world.env["GITHUB_STEP_SUMMARY"];
      if (file === undefined || file === "") return;
      const rows = storiesOf(state, asked).map((story) => {
        const { status, why } = statusOf(state, story);
        return `| ${cell(story.story.id)} | ${status} | ${story.attempts.length} | ${cell(why)} |`;
      });
      const table = ["| story | state | attempts | |", "|---|---|---|---|", ...rows].join("\n");
      const before = (await world.files.read(file)) ?? "";
      await world.files.write(file, `${before}${world.host.clean(`## Remand\n\n${summary}\n\n${table}\n`)}`);
    },
  };
}

const PLAIN = paintFor(false);

function workflowText({ line, stored }: ReportedLine): string {
  const [head, ...details] = lineText(line, 0, UNICODE_GLYPHS, PLAIN).trimEnd().split("\n");
  const body = details.map((detail) => `${detail}\n`).join("");
  const folded =
    details.length === 0
      ? `${inertLines(head!)}\n`
      : `${workflowCommand("group", {}, head!)}\n${inertLines(body)}::endgroup::\n`;
  return folded + annotations(stored, line.story ?? "the run").join("");
}

/** Annotations for blocking findings, on the lines of their files; a question to a person has no location. */
function annotations({ event }: StoredEvent, about: string): string[] {
  if (event.type === "escalation.raised")
    return [`${workflowCommand("warning", { title: `${about} needs you` }, event.escalation.question)}\n`];
  if (event.type !== "gate.judged" || event.judgement.result !== "fail") return [];
  const { gate, findings, blocking } = event.judgement;
  return findings
    .filter(({ id, file }) => blocking.includes(id) && file !== undefined)
    .slice(0, MOST_ANNOTATIONS)
    .map(({ file, line, message }) => {
      const place = { file: file!, ...(line === undefined ? {} : { line: String(line) }) };
      return `${workflowCommand("error", { ...place, title: `${about}: ${gate}` }, shortLine(message, 500))}\n`;
    });
}

/** GitHub shows at most ten annotations of a kind per step. */
const MOST_ANNOTATIONS = 10;

const cell = (text: string): string => shortLine(text, 200).replaceAll("|", "\\|");
