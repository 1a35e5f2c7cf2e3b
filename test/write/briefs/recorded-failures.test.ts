import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { roleName } from "../../../src/core/events/ids.ts";
import { recordedBrief, recordedIn } from "../../kit/recorded-failures.ts";
import { writeBrief } from "../../../src/write/briefs/brief.ts";
import { NONCE } from "../../kit/sample-brief.ts";

/** Failures of real projects, as printed by their own tools, and the agent's brief for each. */
const folder = join(import.meta.dirname, "recorded");
const recorded = readdirSync(folder).filter((file) => file.endsWith(".txt"));

describe("the brief of a recorded failure", () => {
  it.each(recorded)("of %s matches the approved text", async (file) => {
    const failure = recordedIn(readFileSync(join(folder, file), "utf8"));
    const text = writeBrief(recordedBrief(failure, roleName("developer")), { nonce: NONCE });
    await expect(text).toMatchFileSnapshot(join(folder, `${basename(file, ".txt")}.brief.md`));
    const evidence = text.slice(text.indexOf("**Failing evidence:**"), text.indexOf("**Root cause"));
    expect(evidence).not.toMatch(/% Stmts|-{5}\|-{5}/);
    expect(evidence).not.toMatch(/node:internal|\.gz\b/);
    // One screen: the failures, the rules, and how to report.
    expect(text.split("\n").length).toBeLessThanOrEqual(120);
  });

  it("covers at least thirty", () => {
    expect(recorded.length).toBeGreaterThanOrEqual(30);
  });
});
