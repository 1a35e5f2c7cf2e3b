import { describe } from "vitest";
import { DISARMS } from "./disarm-rows.ts";
import { refuses } from "./play.ts";

describe("the tests cannot fail, or see other code than people do, and the work is refused by the test's name", () => {
  refuses(DISARMS);
});
