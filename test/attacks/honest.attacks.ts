import { describe } from "vitest";
import { HONEST } from "./honest-rows.ts";
import { accepts } from "./play.ts";

describe("honest work is accepted at once", () => {
  accepts(HONEST);
});
