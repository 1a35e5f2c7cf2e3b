/** Runs one check that prints a file: `node judge-log.js <file> <folder>`. Prints its figures for the benchmark that started it. */
import { createEvidenceStore } from "../../src/adapters/evidence/evidence-store.ts";
import { createChecksGate } from "../../src/gates/checks/checks-gate.ts";
import { UNKNOWN_BASE } from "../../src/core/gates/base-failures.ts";
import { treeId } from "../../src/core/events/ids.ts";
import type { GateRequest } from "../../src/ports/gate.ts";

const [file = "", folder = ""] = process.argv.slice(2);

const gate = createChecksGate({
  commands: [{ name: "unit", run: `cat '${file}'; exit 1` }],
  environments: {},
  evidence: createEvidenceStore(`${folder}/evidence`),
  clock: { now: () => performance.now(), sleep: () => Promise.resolve() },
  env: { PATH: process.env["PATH"] ?? "" },
});
// The only part of a gate's request that is needed here.
const request = {
  path: folder,
  tree: treeId("t"),
  last: null,
  message: null,
  atBase: UNKNOWN_BASE,
  timeoutMs: 600_000,
};
const before = process.cpuUsage();
const judgement = await gate.run(request as unknown as GateRequest, {
  signal: new AbortController().signal,
  onOutput: () => undefined,
});
const { user, system } = process.cpuUsage(before);
console.log(
  JSON.stringify({
    // Processor time only, so that other load on the machine does not count.
    ms: (user + system) / 1000,
    mostMegabytes: process.resourceUsage().maxRSS / 1024,
    findings: judgement.findings.length,
    tests: judgement.tests?.total ?? null,
  }),
);
