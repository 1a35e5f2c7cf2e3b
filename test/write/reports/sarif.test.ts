import { describe, expect, it } from "vitest";
import { type Finding, SEVERITIES } from "../../../src/core/gates/finding.ts";
import { writeSarif } from "../../../src/write/reports/junit-and-sarif.ts";
import { finding } from "../../kit/sample-brief.ts";

interface Sarif {
  $schema: string;
  version: string;
  runs: {
    tool: {
      driver: { name: string; semanticVersion: string; rules: { id: string; shortDescription: { text: string } }[] };
    };
    columnKind: string;
    results: {
      ruleId: string;
      ruleIndex: number;
      level: string;
      message: { text: string };
      locations: {
        physicalLocation?: { artifactLocation: { uri: string; uriBaseId?: string }; region?: { startLine: number } };
        logicalLocations?: { name: string }[];
      }[];
      partialFingerprints: Record<string, string>;
      properties: Record<string, string>;
    }[];
  }[];
}

const sarif = (findings: readonly Finding[]): Sarif =>
  JSON.parse(writeSarif(findings, { toolVersion: "1.2.3" })) as Sarif;
const uriOf = (file: string): string =>
  sarif([finding({ file })]).runs[0]!.results[0]!.locations[0]!.physicalLocation!.artifactLocation.uri;
const { file: _file, line: _line, ...placeless } = finding();

describe("SARIF", () => {
  // S4.77
  it("has the required properties of a log, a run and a tool", () => {
    const log = sarif([finding()]);
    expect(log.version).toBe("2.1.0");
    expect(log.$schema).toMatch(/sarif-schema-2\.1\.0\.json$/);
    expect(log.runs).toHaveLength(1);
    expect(log.runs[0]!.tool.driver).toMatchObject({ name: "remand", semanticVersion: "1.2.3" });
    expect(sarif([]).runs[0]!.results).toEqual([]);
  });

  it("makes each category a rule, to which its results refer", () => {
    const log = sarif([
      finding({ category: "z" }),
      finding({ category: "a" }),
      finding({ category: "z", message: "other" }),
      finding({ category: " " }),
    ]);
    const { rules } = log.runs[0]!.tool.driver;
    expect(rules.map((rule) => rule.id)).toEqual(["a", "uncategorised", "z"]);
    for (const result of log.runs[0]!.results) expect(rules[result.ruleIndex]!.id).toBe(result.ruleId);
  });

  it("translates every severity to one of the standard's levels", () => {
    const levels = sarif(SEVERITIES.map((severity) => finding({ severity }))).runs[0]!.results.map(
      (result) => result.level,
    );
    expect(levels).toEqual(["error", "error", "warning", "note", "note"]);
  });

  it("carries the finding's identity as a fingerprint, which survives a moved line", () => {
    const [a, b] = sarif([finding({ line: 3 }), finding({ line: 90 })]).runs[0]!.results;
    expect(a!.partialFingerprints).toEqual({ "remandFinding/v1": finding().id });
    expect(b!.partialFingerprints).toEqual(a!.partialFingerprints);
  });

  it("encodes paths as URIs", () => {
    expect(uriOf("src/a b/ü#1%.ts")).toBe("src/a%20b/%C3%BC%231%25.ts");
    expect(uriOf("./src\\c.ts")).toBe("src/c.ts");
    expect(uriOf("a:b.ts")).toBe("a%3Ab.ts");
    expect(uriOf("/tmp/x y.ts")).toBe("file:///tmp/x%20y.ts");
    expect(uriOf("C:\\x\\y z.ts")).toBe("file:///C:/x/y%20z.ts");
    expect(uriOf("half \ud83d.ts")).toBe("half%20%EF%BF%BD.ts");
    expect(sarif([finding()]).runs[0]!.results[0]!.locations[0]!.physicalLocation!.artifactLocation.uriBaseId).toBe(
      "%SRCROOT%",
    );
  });

  it("allows findings without a file, without a line, with a symbol alone", () => {
    const results = sarif([
      placeless,
      { ...placeless, file: "a.ts" },
      { ...placeless, symbol: "f" },
      { ...placeless, file: "a.ts", line: 0 },
    ]).runs[0]!.results;
    expect(results[0]!.locations).toEqual([]);
    expect(results[1]!.locations[0]!.physicalLocation).not.toHaveProperty("region");
    expect(results[2]!.locations).toEqual([{ logicalLocations: [{ name: "f" }] }]);
    expect(results[3]!.locations[0]!.physicalLocation).not.toHaveProperty("region");
  });

  it("puts other data into the properties, and always has a message", () => {
    const [full, empty] = sarif([
      finding({ stage: "code_quality", criterion: "AC-1", suggestedFix: "check it" }),
      finding({ message: "  " }),
    ]).runs[0]!.results;
    expect(full!.properties).toEqual({
      severity: "critical",
      source: "critic",
      stage: "code_quality",
      criterion: "AC-1",
      suggestedFix: "check it",
    });
    expect(empty!.message.text).not.toBe("");
  });

  it("reports in a log without findings whether a gate could not judge", () => {
    const log = (troubles?: readonly string[]) =>
      JSON.parse(writeSarif([], { toolVersion: "1.2.3", ...(troubles === undefined ? {} : { troubles }) })) as {
        runs: { invocations?: unknown }[];
      };
    expect(log().runs[0]).not.toHaveProperty("invocations");
    expect(log([]).runs[0]!.invocations).toEqual([{ executionSuccessful: true, toolExecutionNotifications: [] }]);
    expect(log(["checks: no test ran"]).runs[0]!.invocations).toEqual([
      {
        executionSuccessful: false,
        toolExecutionNotifications: [{ level: "error", message: { text: "checks: no test ran" } }],
      },
    ]);
  });
});
