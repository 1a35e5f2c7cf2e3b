import { describe, expect, it } from "vitest";
import { command as serve } from "../../src/cli/commands/serve/serve.ts";
import { command as show } from "../../src/cli/commands/read/show.ts";
import type { Interrupt } from "../../src/app/command.ts";
import type { ServePlan } from "../../src/app/host.ts";
import { story } from "../kit/story-world.ts";
import { fakeHost, type FakeHostOptions } from "../kit/fake-host.ts";
import { run } from "../kit/fake-environment.ts";
import { hostAfterRun } from "../kit/finished-run.ts";
import { memoryFiles } from "../kit/memory-files.ts";

/** Serves until the signal, which comes at once; returns the plan that was served. */
async function served(args: readonly string[], options: FakeHostOptions = {}, signal: Interrupt = "SIGINT") {
  const host = fakeHost(options);
  let plan: ServePlan | undefined;
  const ran = await run(["serve", ...args], [serve], {
    host,
    env: { USER: "ada" },
    files: memoryFiles({ "/work/remand.yaml": "version: 1\npreset: goal\nredact: [secret-\\d+]\n" }),
    onInterrupt: (handler) => {
      plan = host.servePlans[0];
      setImmediate(() => handler(signal));
      return () => undefined;
    },
  });
  return { ran, plan, host };
}

describe("remand serve", () => {
  it("prints the address, serves until Ctrl-C, and ends well", async () => {
    const { ran, plan, host } = await served(["--port", "7000"]);
    expect(ran).toMatchObject({ exit: 0, out: "http://127.0.0.1:7000/#token=secret\n" });
    expect(ran.err).toContain("for this machine only");
    expect(plan).toMatchObject({ port: 7000, readOnly: false, by: "ada", redact: ["secret-\\d+"] });
    expect(host.servePlans).toEqual([]);
  });

  it("prints a document with --json, and no person's name for a read-only dashboard", async () => {
    const { ran, plan } = await served(["--json", "--read-only", "--port", "0"]);
    expect(JSON.parse(ran.out)).toEqual({
      schema: "remand.serve/1",
      url: "http://127.0.0.1:0/#token=secret",
      port: 0,
      token: "secret",
      readOnly: true,
    });
    expect(plan).toMatchObject({ readOnly: true, by: "read-only" });
  });

  it("reports that no browser could be opened", async () => {
    expect((await served(["--open"])).ran.err).toContain("no browser could be opened");
    expect((await served(["--open"], { browser: true })).ran.err).not.toContain("browser");
  });

  it("exits as terminated on SIGTERM, and refuses an invalid port", async () => {
    expect((await served([], {}, "SIGTERM")).ran.exit).toBe(143);
    expect((await served(["--port", "70000"])).ran).toMatchObject({ exit: 2 });
  });

  it("passes the doctor's probes and the settings with their origins", async () => {
    const { plan } = await served([], { probes: [{ name: "git", ok: true, detail: "here", fix: "" }] });
    const health = await plan!.health();
    expect(health.probes[0]).toMatchObject({ name: "git", ok: true });
    expect(health.config).toContainEqual({ path: "preset", value: '"goal"', origin: "remand.yaml:2", isOwn: true });
    expect(await plan!.verify()).toBeNull();
  });
});

describe("remand show --html", () => {
  it("writes one page with the story, without scripts or remote resources", async () => {
    const title = `<script>alert("x")</script> & 'more'`;
    const host = await hostAfterRun([story("a", { title, body: `use ghp_${"a1B2".repeat(9)} please` })]);
    const files = memoryFiles({});
    const ran = await run(["show", "a", "--html", "out/a.html"], [show], { host, files });
    expect(ran).toMatchObject({ exit: 0, out: "out/a.html\n" });
    const html = (await files.read("/work/out/a.html"))!;
    expect(html).toContain("&#60;script&#62;");
    expect(html).not.toMatch(/<script|<img|<link|src=|href=|ghp_/);
    expect(html).toContain("accepted: all gates passed");
    expect(html).toContain("default-src 'none'");
  });
});
