import { expect, test } from "vitest";
import { drawRun } from "../../scripts/draw-demo.js";

const line = (atMs: number, text: string) => ({ atMs, text });

test("a line appears when it was printed, and long pauses are shortened", () => {
  const picture = drawRun([line(0, "one"), line(1000, "two"), line(1010, "three"), line(60_000, "four")], false);
  const moments = [...picture.matchAll(/@keyframes a\d+\{.*?([\d.]+)%,to/g)].map(([, percent]) => Number(percent));
  const lengthMs = Number(/animation:(\d+)ms/.exec(picture)![1]);
  expect(moments.map((percent) => Math.round((percent * lengthMs) / 100_000))).toEqual([0, 1, 2]);
  expect(picture).toContain('<text y="38">two</text><text y="57">three</text>');
});

test("it keeps colors, escapes text, scrolls, and is still if reduced motion is preferred", () => {
  const many = Array.from({ length: 22 }, (_, i) => line(i * 500, `row ${i}`));
  const picture = drawRun([line(0, "\u001b[1m\u001b[32ma < b\u001b[39m\u001b[22m & c"), ...many], false);
  expect(picture).toContain('<tspan class="g b">a &lt; b</tspan> &amp; c');
  expect(picture).toMatch(/@keyframes s\{0%\{transform:none\}.*to\{transform:translateY\(-95px\)\}\}/);
  const [always, moving] = picture.split("@media (prefers-reduced-motion:no-preference)");
  expect(always).not.toContain("animation");
  expect(moving).toContain("animation:");
  expect(drawRun(many, true)).not.toContain("animation");
});
