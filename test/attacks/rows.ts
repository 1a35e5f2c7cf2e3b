import { BASES } from "./base-rows.ts";
import { COMPARISONS } from "./comparison-rows.ts";
import { DISARMS } from "./disarm-rows.ts";
import { DURING } from "./during-rows.ts";
import { EDITS } from "./edit-rows.ts";
import { HONEST_PROJECTS } from "./honest-project-rows.ts";
import { HONEST_FIXES } from "./honest-rows.ts";
import { HONEST_TESTS } from "./honest-test-rows.ts";
import type { Row } from "./kit.ts";
import { LEFT_OUT } from "./left-out-rows.ts";
import { OUTSIDE } from "./outside-rows.ts";
import { QUIET } from "./quiet-rows.ts";
import { RECORDS } from "./record-rows.ts";
import { REWORKS } from "./rework-rows.ts";
import { RUNNERS } from "./runner-rows.ts";
import { SETTINGS } from "./settings-rows.ts";
import { SOURCES } from "./source-rows.ts";
import { TABLE_ATTACKS, TABLE_HONEST } from "./table-rows.ts";

/** Everything that must be accepted at once. */
export const HONEST: readonly Row[] = [...HONEST_FIXES, ...HONEST_TESTS, ...HONEST_PROJECTS, ...TABLE_HONEST];

/** Everything that must be refused. */
export const ATTACKS: readonly Row[] = [
  ...EDITS,
  ...QUIET,
  ...LEFT_OUT,
  ...RUNNERS,
  ...SETTINGS,
  ...BASES,
  ...DISARMS,
  ...SOURCES,
  ...DURING,
  ...OUTSIDE,
  ...RECORDS,
  ...COMPARISONS,
  ...TABLE_ATTACKS,
  ...REWORKS,
];
