/* oxlint-disable max-lines -- the texts of a project, whole */
import type { Project } from "../projects.ts";

export const planner: Project = {
  name: "planner",
  files: {
    "package.json": `{\n  "name": "planner",\n  "version": "2.0.3",\n  "type": "module"\n}\n`,
    "README.md": `# Planner\n\nFinds free time for everybody.\n`,
    "config/hours.json": `{\n  "opens": 9,\n  "closes": 17,\n  "lunch": 12,\n  "slotMinutes": 30\n}\n`,
    "lib/dates.js": `const DAY = 86_400_000;

export function dayNumber(date) {
  return Math.floor(Date.parse(date + "T00:00:00Z") / DAY);
}

export function fromDayNumber(number) {
  return new Date(number * DAY).toISOString().slice(0, 10);
}

export function addDays(date, days) {
  return fromDayNumber(dayNumber(date) + days);
}

/** Monday is 1, Sunday is 7. */
export function weekday(date) {
  return ((dayNumber(date) + 3) % 7) + 1;
}

export function isWeekend(date) {
  return weekday(date) > 5;
}

export function daysBetween(from, to) {
  const days = [];
  for (let day = dayNumber(from); day <= dayNumber(to); day++) days.push(fromDayNumber(day));
  return days;
}
`,
    "lib/intervals.js": `/** Intervals are [from, to), in minutes. */
export function overlaps(a, b) {
  return a.from < b.to && b.from < a.to;
}

export function merged(intervals) {
  const sorted = [...intervals].sort((a, b) => a.from - b.from);
  const result = [];
  for (const next of sorted) {
    const last = result.at(-1);
    if (last !== undefined && next.from <= last.to) last.to = Math.max(last.to, next.to);
    else result.push({ ...next });
  }
  return result;
}

export function gaps(intervals, within) {
  const free = [];
  let from = within.from;
  for (const busy of merged(intervals)) {
    if (busy.from > from) free.push({ from, to: Math.min(busy.from, within.to) });
    from = Math.max(from, busy.to);
  }
  if (from < within.to) free.push({ from, to: within.to });
  return free;
}

export function lengthOf({ from, to }) {
  return Math.max(0, to - from);
}
`,
    "lib/hours.js": `import { readFileSync } from "node:fs";
import { isWeekend } from "./dates.js";

const HOURS = JSON.parse(readFileSync(new URL("../config/hours.json", import.meta.url), "utf8"));

export function slotMinutes() {
  return HOURS.slotMinutes;
}

export function openHours(date, holidays = []) {
  if (isWeekend(date) || holidays.includes(date)) return null;
  return { from: HOURS.opens * 60, to: HOURS.closes * 60 };
}

export function lunchOf(date) {
  return openHours(date) === null ? [] : [{ from: HOURS.lunch * 60, to: (HOURS.lunch + 1) * 60 }];
}

export function clock(minutes) {
  const hours = Math.floor(minutes / 60);
  return String(hours).padStart(2, "0") + ":" + String(minutes % 60).padStart(2, "0");
}
`,
    "lib/people.js": `export class Calendar {
  constructor(owner) {
    this.owner = owner;
    this.entries = [];
  }

  book(date, from, to, title = "busy") {
    if (to <= from) throw new RangeError("ends before it begins");
    this.entries.push({ date, from, to, title });
    return this;
  }

  cancel(date, title) {
    const before = this.entries.length;
    this.entries = this.entries.filter((entry) => entry.date !== date || entry.title !== title);
    return before - this.entries.length;
  }

  on(date) {
    return this.entries.filter((entry) => entry.date === date);
  }

  async load(source) {
    const rows = await source(this.owner);
    for (const row of rows) this.book(row.date, row.from, row.to, row.title);
    return rows.length;
  }
}
`,
    "lib/repeats.js": `import { addDays, dayNumber, weekday } from "./dates.js";

const MOST = 366;

export function repeats(rule, until) {
  const dates = [];
  let date = rule.start;
  while (dayNumber(date) <= dayNumber(until) && dates.length < MOST) {
    if (matches(rule, date)) dates.push(date);
    date = addDays(date, 1);
  }
  return dates;
}

function matches(rule, date) {
  const passed = dayNumber(date) - dayNumber(rule.start);
  if (rule.every === "day") return passed % (rule.step ?? 1) === 0;
  if (rule.every === "week") return rule.days.includes(weekday(date)) && Math.floor(passed / 7) % (rule.step ?? 1) === 0;
  return Number(date.slice(8)) === Number(rule.start.slice(8));
}
`,
    "lib/planner.js": `import { daysBetween } from "./dates.js";
import { lunchOf, openHours, slotMinutes } from "./hours.js";
import { gaps, lengthOf } from "./intervals.js";

export function freeOn(date, calendars, holidays) {
  const open = openHours(date, holidays);
  if (open === null) return [];
  const busy = calendars.flatMap((calendar) => calendar.on(date));
  return gaps([...busy, ...lunchOf(date)], open);
}

export function firstSlot(from, to, minutes, calendars, holidays = []) {
  const needed = Math.ceil(minutes / slotMinutes()) * slotMinutes();
  for (const date of daysBetween(from, to)) {
    const slot = freeOn(date, calendars, holidays).find((free) => lengthOf(free) >= needed);
    if (slot !== undefined) return { date, from: slot.from, to: slot.from + needed };
  }
  return null;
}

export async function plan(meeting, calendars) {
  const slot = firstSlot(meeting.from, meeting.to, meeting.minutes, calendars, meeting.holidays);
  if (slot === null) return { ok: false, reason: "no time" };
  for (const calendar of calendars) await calendar.book(slot.date, slot.from, slot.to, meeting.title);
  return { ok: true, slot };
}
`,
    "lib/agenda.js": `import { clock } from "./hours.js";

const EMPTY = "nothing planned";

export function agenda(calendar, date) {
  const entries = [...calendar.on(date)].sort((a, b) => a.from - b.from || a.to - b.to);
  if (entries.length === 0) return EMPTY;
  return entries.map((entry) => \`\${clock(entry.from)}-\${clock(entry.to)} \${entry.title}\`).join("\\n");
}

export function busyMinutes(calendar, date) {
  return calendar.on(date).reduce((sum, entry) => sum + (entry.to - entry.from), 0);
}
`,
    "test/dates.test.js": `import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addDays, daysBetween, isWeekend, weekday } from "../lib/dates.js";

describe("dates", () => {
  it("go over the end of a month", () => {
    assert.equal(addDays("2024-02-28", 2), "2024-03-01");
    assert.equal(addDays("2024-01-01", -1), "2023-12-31");
  });

  it("know their weekday", () => {
    assert.equal(weekday("2024-01-01"), 1);
    assert.equal(weekday("2024-01-07"), 7);
    assert.equal(isWeekend("2024-01-05"), false);
    assert.equal(isWeekend("2024-01-06"), true);
  });

  it("are counted with both ends", () => {
    assert.equal(daysBetween("2024-01-01", "2024-01-03").length, 3);
  });
});
`,
    "test/intervals.test.js": `import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gaps, lengthOf, merged, overlaps } from "../lib/intervals.js";

const at = (from, to) => ({ from, to });

describe("intervals", () => {
  it("touch without an overlap", () => {
    assert.equal(overlaps(at(1, 2), at(2, 3)), false);
    assert.equal(overlaps(at(1, 3), at(2, 4)), true);
  });

  it("are merged where they touch", () => {
    assert.deepEqual(merged([at(5, 6), at(1, 3), at(3, 4)]), [at(1, 4), at(5, 6)]);
  });

  it("leave gaps", () => {
    assert.deepEqual(gaps([at(2, 3), at(5, 8)], at(0, 10)), [at(0, 2), at(3, 5), at(8, 10)]);
    assert.deepEqual(gaps([at(0, 10)], at(0, 10)), []);
  });

  it("have no negative length", () => {
    assert.equal(lengthOf(at(5, 3)), 0);
    assert.equal(lengthOf(at(3, 5)), 2);
  });
});
`,
    "test/planner.test.js": `import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { agenda, busyMinutes } from "../lib/agenda.js";
import { Calendar } from "../lib/people.js";
import { firstSlot, freeOn, plan } from "../lib/planner.js";

describe("planner", () => {
  it("keeps lunch free", () => {
    assert.deepEqual(freeOn("2024-01-02", []), [{ from: 540, to: 720 }, { from: 780, to: 1020 }]);
  });

  it("finds nothing on weekends and holidays", () => {
    assert.deepEqual(freeOn("2024-01-06", []), []);
    assert.deepEqual(freeOn("2024-01-01", [], ["2024-01-01"]), []);
  });

  it("takes the first slot for all", () => {
    const ann = new Calendar("ann").book("2024-01-02", 540, 700);
    const bob = new Calendar("bob").book("2024-01-02", 780, 900);
    assert.deepEqual(firstSlot("2024-01-02", "2024-01-03", 45, [ann, bob]), { date: "2024-01-02", from: 900, to: 960 });
  });

  it("goes on to the next day", () => {
    const ann = new Calendar("ann").book("2024-01-05", 540, 1020);
    assert.equal(firstSlot("2024-01-05", "2024-01-08", 30, [ann]).date, "2024-01-08");
    assert.equal(firstSlot("2024-01-06", "2024-01-07", 30, [ann]), null);
  });

  it("books what it finds", async () => {
    const ann = new Calendar("ann");
    const planned = await plan({ from: "2024-01-02", to: "2024-01-02", minutes: 20, title: "talk" }, [ann]);
    assert.equal(planned.ok, true);
    assert.equal(agenda(ann, "2024-01-02"), "09:00-09:30 talk");
    assert.equal(busyMinutes(ann, "2024-01-02"), 30);
  });

  it("says when there is no time", async () => {
    assert.deepEqual(await plan({ from: "2024-01-06", to: "2024-01-07", minutes: 20 }, []), { ok: false, reason: "no time" });
  });
});
`,
    "test/calendar.test.js": `import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { agenda } from "../lib/agenda.js";
import { Calendar } from "../lib/people.js";
import { repeats } from "../lib/repeats.js";

describe("calendar", () => {
  it("refuses what ends before it begins", () => {
    assert.throws(() => new Calendar("x").book("2024-01-01", 60, 60), RangeError);
  });

  it("loads what others booked", async () => {
    const calendar = new Calendar("ann");
    const loaded = await calendar.load(async (owner) => [{ date: "2024-01-01", from: 1, to: 2, title: owner }]);
    assert.equal(loaded, 1);
    assert.equal(calendar.on("2024-01-01")[0].title, "ann");
  });

  it("cancels by title", () => {
    const calendar = new Calendar("x").book("2024-01-01", 1, 2, "a").book("2024-01-01", 3, 4, "b");
    assert.equal(calendar.cancel("2024-01-01", "a"), 1);
    assert.equal(agenda(calendar, "2024-01-01"), "00:03-00:04 b");
    assert.equal(agenda(calendar, "2024-01-02"), "nothing planned");
  });

  it("repeats by day, week and month", () => {
    assert.deepEqual(repeats({ start: "2024-01-01", every: "day", step: 3 }, "2024-01-07"), ["2024-01-01", "2024-01-04", "2024-01-07"]);
    assert.deepEqual(repeats({ start: "2024-01-01", every: "week", days: [1, 3], step: 2 }, "2024-01-17"), ["2024-01-01", "2024-01-03", "2024-01-15", "2024-01-17"]);
    assert.deepEqual(repeats({ start: "2024-01-15", every: "month" }, "2024-03-20"), ["2024-01-15", "2024-02-15", "2024-03-15"]);
  });
});
`,
  },
};
