import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/command-table.ts";
import { command as inbox } from "../../src/cli/commands/read/inbox.ts";
import { command as log } from "../../src/cli/commands/read/log.ts";
import { command as runCommand } from "../../src/cli/commands/work/run.ts";
import { command as show } from "../../src/cli/commands/read/show.ts";
import { command as status } from "../../src/cli/commands/read/status.ts";
import { command as stories } from "../../src/cli/commands/read/stories.ts";
import { JSON_FIELDS, withFieldsJoined } from "../../src/cli/json-fields.ts";
import { world as scripted } from "../seeds/scripted-run.ts";
import { fakeHost } from "../kit/fake-host.ts";
import { run } from "../kit/fake-environment.ts";
import { memoryFiles } from "../kit/memory-files.ts";

const same = { result: "fail", failure: "same", blocking: 1 } as const;
const host = fakeHost({ script: scripted({ gates: { checks: [same, same, same, same] } }) });
const files = memoryFiles({
  "/work/remand.yaml": "preset: goal\ngates: { checks: { commands: [npm test], blame: false } }\n",
  "/work/stories/login.md": "---\ntitle: Log in\n---\nDo it.\n",
});
const all = [inbox, log, show, status, stories];
const json = async (...argv: string[]): Promise<unknown> => {
  if ((await host.openView("/work")) === null) await run(["run", "--quiet"], [runCommand], { host, files });
  const ran = await run(argv, all, { host, files });
  return ran.out === "" ? ran.err : JSON.parse(ran.out.split("\n}\n")[0]! + (ran.out.includes("\n}\n") ? "\n}" : ""));
};

describe("--json with fields", () => {
  it("selects fields of each entry in a list, in the typed order", async () => {
    expect(await json("status", "--json", "status,id")).toEqual({
      schema: "remand.status/1",
      stories: [{ status: "escalated", id: "login" }],
    });
    expect(await json("inbox", "--json", "id")).toEqual({ schema: "remand.inbox/1", items: [{ id: "esc-login-1" }] });
    expect(await json("stories", "--json=id,maxReworks")).toEqual({
      schema: "remand.stories/1",
      stories: [{ id: "login", maxReworks: null }],
      problems: [],
    });
  });

  it("selects fields of a document, and of each line of the journal", async () => {
    expect(await json("show", "login", "--json", "branch")).toEqual({
      schema: "remand.show/1",
      branch: "remand/login",
    });
    const { out } = await run(["log", "--json", "position,story"], all, { host, files });
    expect(out.split("\n").slice(0, 2)).toEqual([
      '{"schema":"remand.journal-line/1","position":1,"story":null}',
      '{"schema":"remand.journal-line/1","position":2,"story":"login"}',
    ]);
  });

  it("without fields prints the whole document, whatever the other arguments are", async () => {
    expect(await json("status", "--json", "login")).toMatchObject({ exit: 4, counts: { stories: 1 } });
    expect(await json("show", "--json", "login")).toMatchObject({ schema: "remand.show/1", story: { id: "login" } });
    expect(await json("--json", "status")).toMatchObject({ schema: "remand.status/1", exit: 4 });
  });

  it("lists the known fields when one is unknown", async () => {
    const ran = await run(["status", "--json", "id,sttaus"], all, { host, files });
    expect(ran).toMatchObject({ exit: 2 });
    expect(JSON.parse(ran.out)).toMatchObject({ schema: "remand.error/1", error: { code: "usage" } });
    expect(ran.err).toContain('remand status --json has no field "sttaus"');
    expect(ran.err).toContain("Did you mean status? There are id, title, status,");
    expect(await run(["status", "--json", "color"], all, { host, files })).toMatchObject({
      exit: 2,
      err: expect.stringMatching(/"color" is neither a story nor a field of --json\n.*Fields: id, title,/),
    });
    expect(await run(["inbox", "--json", "color"], all, { host, files })).toMatchObject({
      exit: 2,
      err: expect.stringContaining('no field "color"'),
    });
  });

  it("is documented in the help", async () => {
    for (const name of Object.keys(JSON_FIELDS) as (keyof typeof JSON_FIELDS)[]) {
      const entry = COMMANDS.find((each) => each.name === name)!;
      const { out } = await run([name, "--help"], [(await entry.load()).command]);
      expect(out).toContain("--json [fields]");
      expect(out).toContain(JSON_FIELDS[name].join(", "));
    }
  });

  it("knows every field of the documents", async () => {
    const whole = (await json("show", "login", "--json")) as object;
    expect(Object.keys(whole)).toEqual(["schema", ...JSON_FIELDS.show]);
  });
});

describe("the word after --json", () => {
  it.each([
    ["status --json id", "status --json=id"],
    ["status --json login", "status login --json"],
    ["status --json a b", "status a b --json"],
    ["status --json", "status --json"],
    ["status --json --quiet", "status --json --quiet"],
    ["run --json login", "run --json login"],
    ["loop --json -- status id", "loop --json -- status id"],
    ["status --json a -- id", "status a --json -- id"],
  ])("%s", (typed, meant) => {
    expect(withFieldsJoined(typed.split(" ")).join(" ")).toBe(meant);
  });
});
