/**
 * Draws the README's animated picture from a real run of `remand demo`: `npm run build && node scripts/draw-demo.js`.
 * Every line is the program's own and appears when the program printed it; only pauses longer than `LONGEST_PAUSE_MS`
 * are shortened, so that a slow machine does not make the picture slow. It ends with the first brief. Viewers that
 * prefer reduced motion get its first screen, which is also a separate file, because browsers do not pass the
 * preference to an image.
 */
/* oxlint-disable no-control-regex -- the colors of a terminal are control characters */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** @typedef {{ readonly atMs: number, readonly text: string }} Line */

const LONGEST_PAUSE_MS = 1200;
const LAST_LOOK_MS = 8000;
/** Lines that are printed within this time appear together. */
const MOMENT_MS = 250;
const SCROLL_MS = 240;
const COLUMNS = 106;
const ROWS = 18;
const LINE = 19;
const CHAR = 8.15;
const TOP = 36;
/** This line and all after it are left out, so that the rest fits on one screen. */
const LAST_PART = "with attempt 3 (";

/** Terminal color codes → class, color on dark, color on light. */
const COLORS = /** @type {const} */ ([
  [["31"], "r", "#ff7b72", "#b3261e"],
  [["32"], "g", "#7ee787", "#116329"],
  [["33"], "y", "#e3b341", "#7d4e00"],
  [["34", "36"], "c", "#79c0ff", "#0550ae"],
  [["35"], "m", "#d2a8ff", "#6639ba"],
  [["2", "90"], "d", "#9198a1", "#59636e"],
]);

/**
 * Draws the lines of a run as a looping animation, or its first screen as a still picture.
 *
 * @param {readonly Line[]} recorded
 * @param {boolean} isStill
 * @returns {string}
 */
export function drawRun(recorded, isStill) {
  const shown = isStill ? recorded.slice(0, ROWS) : recorded;
  const lines = withShortPauses(shown.map(({ atMs, text }) => ({ atMs, text: cut(text.trimEnd(), COLUMNS) })));
  const lengthMs = (lines.at(-1)?.atMs ?? 0) + LAST_LOOK_MS;
  const percent = (/** @type {number} */ atMs) => `${((100 * atMs) / lengthMs).toFixed(2)}%`;
  const times = [...new Set(lines.map(({ atMs }) => atMs))];
  const width = Math.ceil(COLUMNS * CHAR) + 40;
  const height = TOP + ROWS * LINE + 16;
  const appear = times.map(
    (at, i) => `@keyframes a${i}{0%,${percent(Math.max(0, at - 1))}{opacity:0}${percent(at)},to{opacity:1}}`,
  );
  const groups = times.map((at, i) => {
    const rows = lines.flatMap((line, row) =>
      line.atMs === at && line.text !== "" ? [`<text y="${(row + 1) * LINE}">${spans(line.text)}</text>`] : [],
    );
    return isStill ? rows.join("") : `<g style="animation-name:a${i}">${rows.join("")}</g>`;
  });
  const palette = (/** @type {2 | 3} */ of) => COLORS.map((row) => `.${row[1]}{fill:${row[of]}}`).join("");
  const motion = `@media (prefers-reduced-motion:no-preference){.s,.s g{animation:${lengthMs}ms linear infinite}.s{animation-name:s}
${appear.join("\n")}
@keyframes s{${scrolling(lines, percent)}}}
`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A recorded run of remand demo">
<style>
.w{fill:#0d1117;stroke:#30363d}.o{fill:#30363d}text{fill:#e6edf3;font:13.5px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre}.b{font-weight:600}${palette(2)}
@media (prefers-color-scheme:light){.w{fill:#f6f8fa;stroke:#d1d9e0}.o{fill:#d1d9e0}text{fill:#1f2328}${palette(3)}}
${isStill ? "" : motion}</style>
<rect class="w" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
<g class="o"><circle cx="20" cy="18" r="5"/><circle cx="38" cy="18" r="5"/><circle cx="56" cy="18" r="5"/></g>
<svg x="20" y="${TOP}" width="${width - 40}" height="${ROWS * LINE + 6}"><g class="s">
${groups.join("\n")}
</g></svg>
</svg>
`;
}

/**
 * A line below the last row moves all lines up, as in a terminal.
 *
 * @param {readonly Line[]} lines @param {(atMs: number) => string} percent
 */
function scrolling(lines, percent) {
  /** @type {Map<number, number>} */
  const bottoms = new Map();
  for (const [row, { atMs }] of lines.entries()) bottoms.set(atMs, Math.max(0, row + 1 - ROWS) * LINE);
  let before = 0;
  const frames = [...bottoms].flatMap(([at, up]) => {
    if (up === before) return [];
    const from = `${percent(at)}{transform:translateY(-${before}px)}`;
    before = up;
    return [from, `${percent(at + SCROLL_MS)}{transform:translateY(-${up}px)}`];
  });
  return `0%{transform:none}${frames.join("")}to{transform:translateY(-${before}px)}`;
}

/** @param {readonly Line[]} lines @returns {readonly Line[]} */
function withShortPauses(lines) {
  let cutMs = 0;
  let momentMs = 0;
  return lines.map(({ atMs, text }, i) => {
    const pause = atMs - (lines[i - 1]?.atMs ?? atMs);
    cutMs += Math.max(0, pause - LONGEST_PAUSE_MS);
    if (atMs - cutMs - momentMs >= MOMENT_MS) momentMs = atMs - cutMs;
    return { atMs: momentMs, text };
  });
}

/**
 * The first visible characters of a line; color codes do not count.
 *
 * @param {string} line @param {number} most
 */
function cut(line, most) {
  if (line.replaceAll(/\u001b\[[0-9;]*m/g, "").length <= most) return line;
  let left = most - 1;
  const kept = line.split(/(\u001b\[[0-9;]*m)/).map((part, i) => {
    if (i % 2 === 1) return part;
    const shown = part.slice(0, left);
    left -= shown.length;
    return shown;
  });
  return `${kept.join("")}…`;
}

/** @param {string} line */
function spans(line) {
  let color = "";
  let weight = "";
  return line
    .split(/(\u001b\[[0-9;]*m)/)
    .map((part) => {
      const codes = /^\u001b\[([0-9;]*)m$/.exec(part)?.[1];
      if (codes === undefined) {
        const names = [color, weight].filter((name) => name !== "").join(" ");
        return part === "" || names === "" ? escaped(part) : `<tspan class="${names}">${escaped(part)}</tspan>`;
      }
      for (const code of codes.split(";")) {
        if (["", "0", "39", "22"].includes(code)) {
          // 22 resets bold and dim, 39 every other color.
          if (code !== "39") weight = "";
          if (code !== "22" || color === "d") color = "";
        }
        if (code === "1") weight = "b";
        color = COLORS.find(([of]) => /** @type {readonly string[]} */ (of).includes(code))?.[1] ?? color;
      }
      return "";
    })
    .join("");
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** @param {string} root @returns {Promise<readonly Line[]>} */
async function record(root) {
  const env = { ...process.env, FORCE_COLOR: "1", NO_COLOR: undefined };
  const demo = spawn(process.execPath, [`${root}dist/main.js`, "demo"], { env, stdio: ["ignore", "pipe", "inherit"] });
  /** @type {Line[]} */
  const lines = [{ atMs: 0, text: "\u001b[2m$\u001b[22m remand demo" }];
  const start = performance.now();
  let rest = "";
  demo.stdout.setEncoding("utf8").on("data", (text) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    const atMs = Math.round(performance.now() - start);
    for (const part of parts) lines.push({ atMs, text: part });
  });
  const status = await new Promise((done) => demo.on("close", done));
  if (status !== 0) throw new Error(`the demo ended with ${status}`);
  const end = lines.findIndex(({ text }) => text.includes(LAST_PART));
  if (end === -1) throw new Error(`the demo no longer prints "${LAST_PART}"`);
  // The folder's name differs each time, but the picture should change only when the program does.
  return lines.slice(0, end - 1).map(({ atMs, text }) => ({
    atMs,
    text: text.replaceAll(/\/[^\s]*remand-demo-\w+/g, "/tmp/remand-demo"),
  }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const lines = await record(root);
  for (const [name, isStill] of /** @type {const} */ ([
    ["demo", false],
    ["demo-still", true],
  ])) {
    const picture = drawRun(lines, isStill);
    writeFileSync(`${root}docs/${name}.svg`, picture);
    console.log(`docs/${name}.svg: ${picture.length} bytes, ${lines.at(-1)?.atMs} ms recorded`);
  }
}
