/**
 * Draws the README's picture from a real run of `remand demo`: `npm run build && node scripts/draw-demo.js`. Colours are the
 * program's own; nothing is drawn that it did not print.
 */
/* oxlint-disable no-control-regex -- the colours of a terminal are control characters */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { stdout, stderr, status } = spawnSync(process.execPath, [`${root}dist/main.js`, "demo"], {
  encoding: "utf8",
  env: { ...process.env, FORCE_COLOR: "1", NO_COLOR: undefined, COLUMNS: "110" },
});
if (status !== 0) throw new Error(`the demo ended with ${status}: ${stderr}`);

/** The folder is another one each time; the picture should change only when the program does. */
const text = stdout.replaceAll(/\/[^\s]*remand-demo-\w+/g, "/tmp/remand-demo").trimEnd();
const lines = text.split("\n").map((line) => cut(line.trimEnd(), 140));

/** @type {Readonly<Record<string, string>>} */
const COLOURS = {
  31: "#ff7b72",
  32: "#7ee787",
  33: "#e3b341",
  34: "#79c0ff",
  35: "#d2a8ff",
  36: "#76e3ea",
  90: "#8b949e",
  2: "#8b949e",
};
const LINE = 19;
const CHAR = 8.15;
const width = Math.ceil(Math.max(...lines.map((line) => plain(line).length)) * CHAR) + 40;
const height = lines.length * LINE + 60;

const rows = lines.map((line, i) => `<text x="20" y="${52 + i * LINE}" xml:space="preserve">${spans(line)}</text>`);
writeFileSync(
  `${root}docs/demo.svg`,
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="Terminal output of remand demo">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g fill="#30363d"><circle cx="20" cy="18" r="5"/><circle cx="38" cy="18" r="5"/><circle cx="56" cy="18" r="5"/></g>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13.5" fill="#e6edf3">
${rows.join("\n")}
</g>
</svg>
`,
);
console.log(`docs/demo.svg: ${lines.length} lines`);

/**
 * The first of its signs; a colour is none.
 *
 * @param {string} line
 * @param {number} most
 */
function cut(line, most) {
  if (plain(line).length <= most) return line;
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
function plain(line) {
  return line.replaceAll(/\u001b\[[0-9;]*m/g, "");
}

/** @param {string} line */
function spans(line) {
  let colour = "";
  let weight = "";
  return line
    .split(/(\u001b\[[0-9;]*m)/)
    .map((part) => {
      const codes = /^\u001b\[([0-9;]*)m$/.exec(part)?.[1];
      if (codes === undefined) return part === "" ? "" : `<tspan${colour}${weight}>${escaped(part)}</tspan>`;
      for (const code of codes.split(";")) {
        if (code === "0" || code === "" || code === "39" || code === "22")
          [colour, weight] = [code === "22" ? colour : "", code === "39" ? weight : ""];
        if (code === "1") weight = ' font-weight="600"';
        if (code in COLOURS) colour = ` fill="${COLOURS[code]}"`;
      }
      return "";
    })
    .join("");
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
