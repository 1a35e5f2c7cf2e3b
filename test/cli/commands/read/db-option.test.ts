import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../../../src/cli/command-table.ts";
import { command as evidence } from "../../../../src/cli/commands/read/evidence.ts";
import { command as parse } from "../../../../src/cli/commands/read/parse.ts";
import { command as status } from "../../../../src/cli/commands/read/status.ts";
import { storyId } from "../../../../src/core/events/ids.ts";
import { fakeHost } from "../../../kit/fake-host.ts";
import { run } from "../../../kit/fake-environment.ts";

const DB = "postgres://remand@db.example/fleet";
const OTHER = "postgres://remand@other.example/fleet";

describe("--db", () => {
  test("makes a command read that database; the option wins over the variable, and the default is the checkout", async () => {
    const host = fakeHost();
    await run(["status"], [status], { host });
    expect(host.dbs).toEqual([]);
    await run(["status", "--db", DB], [status], { host });
    expect(host.dbs).toEqual([DB]);
    await run(["status"], [status], { host, env: { REMAND_DB: OTHER } });
    expect(host.dbs).toEqual([DB, OTHER]);
    await run(["status", "--db", DB], [status], { host, env: { REMAND_DB: OTHER } });
    expect(host.dbs).toEqual([DB, OTHER, DB]);
    await run(["status"], [status], { host, env: { REMAND_DB: "" } });
    expect(host.dbs).toHaveLength(3);
    // An unset shell variable gives an empty value, which is refused instead of meaning the checkout.
    await run(["status", "--db", ""], [status], { host });
    expect(host.dbs.at(-1)).toBe("");
  });

  test("is an option of every command that reads or writes a journal, and of no other", async () => {
    for (const entry of COMMANDS) {
      const { command } = await entry.load();
      const { out } = await run([entry.name, "--help"], [command], { host: fakeHost() });
      expect({ name: entry.name, hasDb: out.includes("--db <url>") }).toEqual({
        name: entry.name,
        hasDb: entry.looks === true || entry.name === "worker",
      });
    }
    const refused = await run(["parse", "--db", DB], [parse]);
    expect(refused.exit).toBe(2);
    expect(refused.err).toContain("--db");
  });
});

describe("remand evidence", () => {
  test("prints stored evidence, and reports missing evidence", async () => {
    const host = fakeHost();
    await host.write(storyId("a"), { type: "story.started", by: "test" });
    const id = await host.keepEvidence("what was printed\n");
    expect(await run(["evidence", id], [evidence], { host })).toMatchObject({ exit: 0, out: "what was printed\n" });
    const { out } = await run(["evidence", id, "--json"], [evidence], { host });
    expect(JSON.parse(out)).toEqual({ schema: "remand.evidence/1", id, text: "what was printed\n" });
    const nothing = await run(["evidence", "abc"], [evidence], { host });
    expect(nothing).toMatchObject({ exit: 2, err: expect.stringContaining("nothing is kept under abc") });
  });
});
