import { DISARMS } from "./disarm-rows.ts";
import { DURING } from "./during-rows.ts";
import { EDITS } from "./edit-rows.ts";
import type { Row } from "./kit.ts";
import { LEFT_OUT } from "./left-out-rows.ts";
import { OUTSIDE } from "./outside-rows.ts";
import { SETTINGS } from "./settings-rows.ts";

export { HONEST } from "./honest-rows.ts";

/** Everything that must be refused. */
export const ATTACKS: readonly Row[] = [...OUTSIDE, ...EDITS, ...LEFT_OUT, ...SETTINGS, ...DURING, ...DISARMS];
