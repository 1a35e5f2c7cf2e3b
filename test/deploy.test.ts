/**
 * The files of deploy/, held against the program: what they call exists, what they set is read, and their
 * times fit together. What can be tried without a container engine is tried.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { command } from "../src/cli/commands/serve/worker.ts";
import { durationMs } from "../src/config/duration.ts";
import { startHealthServer, type HealthReport } from "../src/server/health.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (name: string): string => readFileSync(`${root}deploy/${name}`, "utf8");
const UNIT = "remand-worker@.service";
const FILES = [UNIT, "Dockerfile", "compose.yaml", "README.md"];

function workerOptions(): ReadonlySet<string> {
  const registered = new Command("worker");
  command.register(registered, {} as never, () => undefined);
  return new Set(registered.options.flatMap(({ long }) => (long == null ? [] : [long])));
}

/** Lines `Key=value` of a unit, with the section they stand in; a comment or an empty line is none. */
function directives(text: string): readonly { section: string; key: string; value: string }[] {
  let section = "";
  return text.split("\n").flatMap((line) => {
    if (/^(?:#.*)?$/.test(line)) return [];
    const [, name] = /^\[(\w+)\]$/.exec(line) ?? [];
    section = name ?? section;
    if (name !== undefined) return [];
    const [, key, value] = /^([A-Z][A-Za-z]+)=(.*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined) throw new Error(`no directive: ${line}`);
    return [{ section, key, value }];
  });
}

const valueOf = (key: string): string | undefined =>
  directives(read(UNIT)).find((directive) => directive.key === key)?.value;

/** Instructions of a Dockerfile, with lines that go on put together. */
function instructions(text: string): readonly { name: string; value: string }[] {
  return text
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, name, value] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new Error(`no instruction: ${line}`);
      return { name, value };
    });
}

const lastOf = (name: string): string => instructions(read("Dockerfile")).findLast((each) => each.name === name)!.value;

interface Compose {
  readonly services: {
    readonly worker: { readonly stop_grace_period: string; readonly environment: Record<string, string> };
    readonly postgres: { readonly healthcheck: object };
  };
}

describe("deploy", () => {
  test("every option of a worker that is used exists", () => {
    const known = workerOptions();
    const said = read("README.md").match(/`--[a-z-]+`/g) ?? [];
    const used = [valueOf("ExecStart")!, lastOf("CMD"), ...said].flatMap((text) => text.match(/--[a-z-]+/g) ?? []);
    expect(used).toEqual(expect.arrayContaining(["--health-port", "--health-host", "--drain"]));
    expect(used.filter((option) => !known.has(option))).toEqual([]);
  });

  test("every variable of ours that is set is read by the program", () => {
    const sources = readdirSync(`${root}src`, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readFileSync(`${root}src/${name}`, "utf8"))
      .join("\n");
    const used = new Set(FILES.flatMap((name) => read(name).match(/\bREMAND_[A-Z_]+\b/g) ?? []));
    expect(used).toContain("REMAND_DB");
    expect([...used].filter((name) => !sources.includes(`"${name}"`))).toEqual([]);
  });

  test("the stop timeout of a worker is longer than its drain time", () => {
    const drains = [valueOf("ExecStart")!, lastOf("CMD")].map((text) => /--drain[", ]+(\w+)/.exec(text)![1]!);
    const { stop_grace_period: grace } = (parse(read("compose.yaml")) as Compose).services.worker;
    const waits = [valueOf("TimeoutStopSec")!.replace("min", "m"), grace];
    const least = Math.max(...drains.map((text) => durationMs(text)!)) + 60_000;
    for (const wait of waits) expect(durationMs(wait)).toBeGreaterThanOrEqual(least);
  });

  test("the worker alone is told to end, agents end with it, and it comes back after a fault", () => {
    expect([valueOf("KillSignal"), valueOf("KillMode"), valueOf("Restart")]).toEqual([
      "SIGTERM",
      "mixed",
      "on-failure",
    ]);
    expect(lastOf("STOPSIGNAL")).toBe("SIGTERM");
    expect(JSON.parse(lastOf("ENTRYPOINT"))).toEqual(["tini", "--", "remand"]);
  });

  test("no container runs as root, and the image has what a worker calls", () => {
    expect(valueOf("User")).toBe("remand");
    expect(lastOf("USER")).toBe("node");
    const run = instructions(read("Dockerfile")).filter(({ name }) => name === "RUN");
    const text = run.map(({ value }) => value).join("\n");
    for (const needed of ["git", "tini", "openssh-client", "ca-certificates"]) expect(text).toContain(needed);
    const { devDependencies } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
      devDependencies: Record<string, string>;
    };
    for (const name of ["@dbos-inc/dbos-sdk", "pg", "@opentelemetry/api"])
      expect(text).toContain(`${name}@${devDependencies[name]}`);
  });

  test("a password stands in no file", () => {
    const { worker } = (parse(read("compose.yaml")) as Compose).services;
    expect(worker.environment["REMAND_DB"]).toMatch(/:\$\{POSTGRES_PASSWORD:\?[^}]+\}@/);
    expect(valueOf("EnvironmentFile")).toMatch(/^\/etc\//);
  });

  test("the container's look at its health tells ready from not ready and from gone", async () => {
    const [, script = ""] = /CMD \["node", "-e", "(.*)"\]$/.exec(lastOf("HEALTHCHECK"))!;
    expect(script).toContain(":7334/readyz");
    const report: HealthReport = {
      worker: "w",
      version: "1",
      isDatabaseReached: true,
      isPresent: true,
      isQueueLaunched: true,
      isDraining: false,
      jobs: 0,
    };
    let isDraining = false;
    const server = await startHealthServer({ host: "127.0.0.1", port: 0, report: () => ({ ...report, isDraining }) });
    const look = async (): Promise<number> => {
      const child = spawn(process.execPath, ["-e", script.replace("7334", String(server.port))]);
      const [code] = (await once(child, "exit")) as [number];
      return code;
    };
    expect(await look()).toBe(0);
    isDraining = true;
    expect(await look()).toBe(1);
    await server.close();
    expect(await look()).toBe(1);
  });

  const analyze = "systemd-analyze";
  const hasSystemd = spawnSync(analyze, ["--version"]).status === 0;
  test.skipIf(!hasSystemd)("systemd finds nothing wrong with the unit", () => {
    const folder = mkdtempSync(join(tmpdir(), "remand-unit-"));
    try {
      copyFileSync(`${root}deploy/${UNIT}`, join(folder, UNIT));
      const { status, stderr } = spawnSync(analyze, ["verify", join(folder, UNIT)], { encoding: "utf8" });
      expect([status, stderr]).toEqual([0, ""]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
