import { describe, expect, it } from "vitest";
import { command as answer } from "../../../../src/cli/commands/work/answer.ts";
import { command as inbox } from "../../../../src/cli/commands/read/inbox.ts";
import { command as loop } from "../../../../src/cli/commands/work/loop.ts";
import { command as show } from "../../../../src/cli/commands/read/show.ts";
import type { ContestedTest } from "../../../../src/core/gates/contested-test.ts";
import { entries } from "../../../../src/stdx/sorted-map.ts";
import { stateOf, world as scripted } from "../../../seeds/scripted-run.ts";
import { story } from "../../../kit/story-world.ts";
import { fakeHost, type FakeHost } from "../../../kit/fake-host.ts";
import { on, run } from "../../../kit/fake-environment.ts";
import { hostAfterRun } from "../../../kit/finished-run.ts";

const ADDS: ContestedTest = { test: "test/a.test.js > adds", why: "fails", file: "test/a.test.js" };
const GONE: ContestedTest = { test: "test/b.test.js > removes", why: "removed", file: "test/b.test.js" };
const PASS = { result: "pass", more: { contested: [ADDS, GONE] } } as const;

const asking = (): Promise<FakeHost> => hostAfterRun([story("cart")], scripted({ gates: { checks: [PASS] } }));

describe("the question about contested tests", () => {
  it("is shown by inbox and show, with all names and the command to type", async () => {
    const host = await asking();
    const listed = (await on(host, inbox, [])).out;
    expect(listed).toContain("2 existing tests no longer pass in their earlier version: test/a.test.js > adds");
    expect(listed).toContain('remand answer esc-cart-1 allow --message "…"');
    expect((await on(host, show, ["cart"])).out).toContain("test/b.test.js > removes. May the work change them?");
  });

  it("is answered with allow, a reason, and all or some of the tests", async () => {
    const host = await asking();
    expect((await on(host, answer, ["cart", "allow"])).err).toContain("allow needs a message");
    const none = await on(host, answer, ["cart", "allow", "--test", "nothing", "--message", "x"]);
    expect(none.err).toContain("no contested test of the question matches nothing");
    const some = ["cart", "allow", "--test", "test/a*", "--message", "new rounding", "--json"];
    expect(JSON.parse((await on(host, answer, some)).out)).toMatchObject({
      answer: { verb: "allow", by: "ada", message: "new rounding", escalation: "esc-cart-1", tests: [ADDS.test] },
    });
    expect(stateOf(host.state(), "cart").licensed).toEqual([{ test: ADDS.test, by: "ada", reason: "new rounding" }]);
  });

  it("without a question, allow must name the tests itself", async () => {
    const host = await hostAfterRun([story("cart", { shelf: "backlog" })]);
    const bare = await on(host, answer, ["cart", "allow", "--message", "x"]);
    expect(bare.err).toContain("allow needs the tests that the work may change");
    expect(await on(host, answer, ["cart", "allow", "--test", "test/**", "--message", "x"])).toMatchObject({ exit: 0 });
    expect(stateOf(host.state(), "cart").licensed).toMatchObject([{ test: "test/**" }]);
  });
});

describe("remand loop --tests-may-change", () => {
  const ARGS = ["--goal", "round up", "--check", "npm test"];
  const looped = (host: FakeHost, ...more: readonly string[]) =>
    run(["loop", ...ARGS, ...more, "--reporter", "default", "--", "./agent.sh"], [loop], {
      host,
      env: { USER: "ada" },
    });
  const only = (host: FakeHost) => [...entries(host.state().stories)][0]![1];

  it("licenses tests in advance, so that no question is asked", async () => {
    const host = fakeHost({ script: scripted({ gates: { checks: [PASS] } }) });
    const ran = await looped(host, "--tests-may-change", "test/a.test.js", "--tests-may-change", "removes");
    expect(ran.exit).toBe(0);
    expect(only(host).story.tests).toEqual(["test/a.test.js", "removes"]);
  });

  it("answers a waiting loop in the name of the person who typed it, and shows the license at acceptance", async () => {
    const host = fakeHost({ script: scripted({ gates: { checks: [PASS] } }) });
    expect(await looped(host)).toMatchObject({ exit: 4 });
    const ran = await looped(host, "--tests-may-change", "test/**");
    expect(ran.exit).toBe(0);
    expect(only(host).licensed).toEqual([{ test: "test/**", by: "ada", reason: "given with --tests-may-change" }]);
    expect(ran.out).toContain("2 tests changed with ada's permission: test/a.test.js > adds, test/b.test.js > removes");
    expect(only(host).story).not.toHaveProperty("tests");
  });
});
