import { describe } from "vitest";
import { DURING } from "./during-rows.ts";
import { refuses } from "./play.ts";

describe("the bug is left in, and the work is refused by the test's name", () => {
  refuses(DURING);
});
