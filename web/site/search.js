/** The search and the menu of the documentation's site. Runs in the browser without a build. */

/** @typedef {{ readonly page: string, readonly title: string, readonly url: string, readonly text: string }} Section */

const root = document.body.dataset["root"] ?? "";
const input = /** @type {HTMLInputElement} */ (document.querySelector("#search"));
const results = /** @type {HTMLOListElement} */ (document.querySelector("#results"));
const menu = /** @type {HTMLButtonElement} */ (document.querySelector("#menu"));
const MOST_RESULTS = 12;
const BEFORE = 40;
const AFTER = 120;

/** @type {Promise<readonly Section[]> | undefined} */
let loading;
/** @returns {Promise<readonly Section[]>} */
const load = () => (loading ??= fetch(`${root}search.json`).then((response) => response.json()));

/** All words must occur; a title counts more than the text. @param {Section} section @param {readonly string[]} words */
function scoreOf({ title, page, text }, words) {
  const [inTitle, inPage, inText] = [title, page, text].map((part) => part.toLowerCase());
  let score = 0;
  for (const word of words) {
    const hits =
      (inTitle?.includes(word) ? 8 : 0) + (inPage?.includes(word) ? 3 : 0) + (inText?.includes(word) ? 1 : 0);
    if (hits === 0) return 0;
    score += hits;
  }
  return score;
}

/** @param {Section} section @param {string} word */
function excerptOf({ text }, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - BEFORE);
  return `${at > 0 ? "…" : ""}${text.slice(at, at + BEFORE + AFTER)}…`;
}

async function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    results.hidden = true;
    return;
  }
  const sections = await load();
  const found = sections
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST_RESULTS);
  results.replaceChildren(...found.map(({ section }) => rowOf(section, words[0] ?? "")));
  if (found.length === 0)
    results.replaceChildren(Object.assign(document.createElement("li"), { textContent: "Nothing found." }));
  results.hidden = false;
}

/** @param {Section} section @param {string} word */
function rowOf(section, word) {
  const link = document.createElement("a");
  link.href = root + section.url;
  const title = document.createElement("strong");
  title.textContent = section.title === section.page ? section.page : `${section.page} › ${section.title}`;
  const text = document.createElement("span");
  text.textContent = excerptOf(section, word);
  link.append(title, text);
  const row = document.createElement("li");
  row.append(link);
  return row;
}

input.addEventListener("focus", () => void load());
input.addEventListener("input", () => void search());
document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    input.focus();
  }
  if (event.key === "Escape") results.hidden = true;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") moveFocus(event);
  if (event.key === "Enter" && isTyping) results.querySelector("a")?.click();
});

/** @param {KeyboardEvent} event */
function moveFocus(event) {
  const links = [...results.querySelectorAll("a")];
  if (results.hidden || links.length === 0) return;
  const at = links.findIndex((link) => link === document.activeElement);
  event.preventDefault();
  const next = at + (event.key === "ArrowDown" ? 1 : -1);
  if (next < 0) input.focus();
  else links[Math.min(next, links.length - 1)]?.focus();
}

menu.addEventListener("click", () => {
  const isOpen = document.body.classList.toggle("menu-open");
  menu.setAttribute("aria-expanded", String(isOpen));
});
