import { describe } from "vitest";
import { SETTINGS } from "./settings-rows.ts";
import { refuses } from "./play.ts";

describe("the bug is left in, and the work is refused by the test's name", () => {
  refuses(SETTINGS);
});
