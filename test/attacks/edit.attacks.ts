import { describe } from "vitest";
import { EDITS } from "./edit-rows.ts";
import { refuses } from "./play.ts";

describe("the bug is left in, and the work is refused by the test's name", () => {
  refuses(EDITS);
});
