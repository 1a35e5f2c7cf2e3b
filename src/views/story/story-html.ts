import { countText, plainText } from "../../stdx/plain-text.ts";
import { timeText } from "../run/event-text.ts";
import { UNICODE_GLYPHS, durationText, moneyText } from "../text/words.ts";
import { findingText } from "./finding-text.ts";
import type { AttemptCard, StoryDocument } from "./story-document.ts";
import type { StoryLine } from "./story-lines.ts";

/** One story, for a self-contained file. */
export interface StoryHtmlInput {
  readonly document: StoryDocument;
  readonly lines: readonly StoryLine[];
  readonly texts: readonly { readonly label: string; readonly position: number; readonly text: string }[];
  /** When the file was made. */
  readonly at: number;
}

/** A full page without scripts, fonts or images from elsewhere, so that it opens on any machine. */
export function storyHtml(paper: StoryHtmlInput): string {
  const { document, at } = paper;
  const { card, story } = document;
  return htmlPage(
    story.title,
    `<p class="small">${escapeHtml(story.id)} · ${escapeHtml(card.status)} · told ${timeText(at, "UTC")}</p>
<h1>${escapeHtml(story.title)}</h1>
${storySections(paper)}`,
  );
}

export function htmlPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

/** Everything about a story except its title. */
export function storySections({ document, lines, texts }: Omit<StoryHtmlInput, "at">): string {
  const { card, story, attempts } = document;
  const money = card.costUnknown ? `at least ${moneyText(card.costUsd)}` : moneyText(card.costUsd);
  const facts = [countText(attempts.length, "attempt"), money, durationText(card.timeMs), ...branchOf(document)];
  return `<p class="why">${escapeHtml(card.why)}</p>
<p class="small">${facts.map(escapeHtml).join(" · ")}</p>
${section("What was asked for", `<pre>${escapeHtml(story.body.trim())}</pre>`)}
${section(
  "Criteria",
  table(
    ["", "Criterion", "Evidence"],
    document.criteria.map((each) => [`${each.id} ${each.status}`, each.text, each.evidence]),
  ),
)}
${section("Attempts", attempts.map(attemptHtml).join("\n"))}
${section(
  "Findings",
  table(
    ["Standing", "Gate", "Finding"],
    document.findings.map((each) => [each.standing, each.gate, findingText(each, 400)]),
  ),
)}
${section("Blame", table(["Verdict", "Place", "Why"], blameRows(document)))}
${section(
  "Waivers",
  table(
    ["Gate", "By", "Reason"],
    document.waivers.map(({ gate, by, reason }) => [gate, by, reason]),
  ),
)}
${section("What happened", `<ol class="line">${lines.map(lineHtml).join("\n")}</ol>`)}
${section("Kept texts", texts.map(textHtml).join("\n"))}`;
}

const branchOf = ({ branch, commit }: StoryDocument): string[] =>
  commit === "" ? [] : [`${branch === null ? "" : `${branch} at `}${commit.slice(0, 12)}`];

function attemptHtml({ attempt, phase, role, outcome, summary, failed, costUsd, changed }: AttemptCard): string {
  const parts = [`${phase} by ${role}`, outcome, ...(costUsd === null ? [] : [moneyText(costUsd)])];
  return `<h3>Attempt ${attempt}</h3>
<p class="small">${parts.map(escapeHtml).join(" · ")}</p>
${summary === "" ? "" : `<p>${escapeHtml(summary)}</p>`}
${failed === "" ? "" : `<p class="bad">Not good enough: ${escapeHtml(failed)}</p>`}
${changed.length === 0 ? "" : `<p class="small">${changed.map(escapeHtml).join(", ")}</p>`}`;
}

const blameRows = ({ blames }: StoryDocument): string[][] =>
  blames.flatMap(({ gate, blame }) =>
    (blame.suspects.length === 0 ? [null] : blame.suspects).map((suspect) => [
      `${gate}: ${blame.verdict}, ${blame.basis}`,
      suspect === null ? "" : `${suspect.file}:${suspect.line}`,
      suspect === null ? blame.explanation : [suspect.change, ...suspect.reasons].join("; "),
    ]),
  );

function lineHtml({ at, position, entry, hash, words, type }: StoryLine): string {
  if (entry === null) return "";
  const details = entry.details.map((detail) => `<div class="detail">${escapeHtml(detail)}</div>`).join("");
  const sign = UNICODE_GLYPHS.marks[entry.mark];
  return `<li title="${escapeHtml(`line ${position}, ${hash}`)}"><time>${timeText(at, "UTC")}</time> <b>${sign}</b> ${escapeHtml(words === "" ? type : words)}${details}</li>`;
}

const textHtml = ({ label, position, text }: StoryHtmlInput["texts"][number]): string =>
  `<details><summary>${escapeHtml(label)} (line ${position})</summary><pre>${escapeHtml(text)}</pre></details>`;

export const section = (title: string, content: string): string =>
  content.trim() === "" || content === NO_ROWS ? "" : `<section><h2>${escapeHtml(title)}</h2>\n${content}\n</section>`;

const NO_ROWS = "";

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return NO_ROWS;
  const cells = (tag: string, row: readonly string[]): string =>
    `<tr>${row.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join("")}</tr>`;
  return `<table><thead>${cells("th", heads)}</thead><tbody>${rows.map((row) => cells("td", row)).join("\n")}</tbody></table>`;
}

/** Escapes text, so that it can never become markup. */
export function escapeHtml(text: string): string {
  return plainText(text).replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

const STYLE = `
:root{color-scheme:light dark}
body{margin:0;font:16px/1.5 system-ui,sans-serif;background:light-dark(#fbfaf8,#16181c);color:light-dark(#22262d,#e4e6ea)}
main{max-width:60rem;margin:0 auto;padding:2rem 1rem}
h1{font-size:1.7rem;line-height:1.2;margin:.2em 0}h2{font-size:1.15rem;margin:2em 0 .5em}h3{font-size:1rem;margin:1.2em 0 .2em}
.small,time{color:light-dark(#5b6370,#a3abb8);font-size:.875rem}.bad{color:light-dark(#a3262b,#ff9a94)}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.5 ui-monospace,monospace;background:light-dark(#f1efeb,#1f2329);padding:.8rem;border-radius:.5rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;border-bottom:1px solid light-dark(#dedad3,#333943);overflow-wrap:anywhere}
.line{padding-left:1.2rem}.line li{margin:.3rem 0}.detail{font:13px/1.5 ui-monospace,monospace;white-space:pre-wrap;color:light-dark(#5b6370,#a3abb8)}
summary{cursor:pointer;padding:.3rem 0}
.figures{display:flex;flex-wrap:wrap;gap:.4rem 2rem;margin:1rem 0;padding:0}.figures div{display:flex;flex-direction:column-reverse}.figures dd{margin:0;font-size:1.3rem;font-weight:600}.figures dt{color:light-dark(#5b6370,#a3abb8);font-size:.875rem}
.story{border-top:1px solid light-dark(#dedad3,#333943)}.story>summary{font-weight:600;padding:.6rem 0}.story h2{font-size:1rem}
`;
