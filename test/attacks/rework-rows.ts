import { BASES } from "./base-rows.ts";
import { COMPARISONS } from "./comparison-rows.ts";
import { DISARMS } from "./disarm-rows.ts";
import { EDITS } from "./edit-rows.ts";
import type { Row } from "./kit.ts";
import { LEFT_OUT } from "./left-out-rows.ts";
import { QUIET } from "./quiet-rows.ts";
import { RECORDS } from "./record-rows.ts";
import { RUNNERS } from "./runner-rows.ts";
import { SOURCES } from "./source-rows.ts";

const EVERY = 8;
const all = [...EDITS, ...LEFT_OUT, ...DISARMS, ...BASES, ...QUIET, ...RUNNERS, ...SOURCES, ...RECORDS, ...COMPARISONS];

/** Each eighth attack once more, as the answer to a failed first attempt. */
export const REWORKS: readonly Row[] = all
  .filter(({ pending }, index) => index % EVERY === 3 && pending === undefined)
  .map((row) => ({ ...row, isRework: true, says: "" }));
