import { shortMessage, type OutputFailure } from "./test-output-parts.ts";
import { asCount, asList, asRecord, asText, timeOf, type ReadReport } from "./test-report-parts.ts";

/**
 * SARIF 2: the errors in it. Warnings and notes are left out, as they are from what a linter prints; so is what was
 * suppressed, and what is gone. `null`: it is no SARIF. A tool that says of itself that it did not get to its end has
 * not judged.
 */
export function readSarif(value: unknown): ReadReport | null {
  const { runs, version } = asRecord(value);
  if (!Array.isArray(runs) || !asText(version).startsWith("2.")) return null;
  const tools = runs.map((run) => asText(asRecord(asRecord(asRecord(run)["tool"])["driver"])["name"]) || "a tool");
  const invocations = runs.flatMap((run) => asList(asRecord(run)["invocations"]).map(asRecord));
  if (invocations.some((invocation) => invocation["executionSuccessful"] === false))
    return { report: null, problem: `${tools.join(", ")} says that it did not run to its end` };
  const times = invocations.flatMap((invocation) => timeOf(asText(invocation["endTimeUtc"])) ?? []);
  return {
    report: {
      kind: "sarif",
      runners: [],
      counts: null,
      ranTests: null,
      failures: runs.flatMap((run) => errorsIn(asRecord(run))),
      more: 0,
      writtenAt: times.length === 0 ? null : Math.max(...times.slice(0, 1000)),
    },
    problem: null,
  };
}

function errorsIn(run: Readonly<Record<string, unknown>>): OutputFailure[] {
  const rules = asList(asRecord(asRecord(run["tool"])["driver"])["rules"]).map(asRecord);
  const byId = new Map(rules.map((rule) => [asText(rule["id"]), rule]));
  return asList(run["results"]).flatMap((each) => {
    const result = asRecord(each);
    const rule = byId.get(asText(result["ruleId"])) ?? rules[asCount(result["ruleIndex"])];
    if (!isError(result, rule) || isLaidAside(result)) return [];
    const place = asRecord(asRecord(asList(result["locations"])[0])["physicalLocation"]);
    const file = pathOf(asText(asRecord(place["artifactLocation"])["uri"]));
    const line = asCount(asRecord(place["region"])["startLine"]);
    const id = asText(result["ruleId"]) || asText(rule?.["id"]);
    const message = asRecord(result["message"]);
    const text = asText(message["text"]) || asText(message["markdown"]) || "no message";
    return [
      {
        test: null,
        category: "lint",
        message: shortMessage(id === "" ? text : `${id}: ${text}`),
        detail: "",
        file: file === "" ? null : file,
        line: line === 0 ? null : line,
      },
    ];
  });
}

/** Without a level of its own a result has its rule's; without one there either it is a warning. */
function isError(result: Readonly<Record<string, unknown>>, rule: Readonly<Record<string, unknown>> | undefined) {
  if (!["", "fail"].includes(asText(result["kind"]))) return false;
  const level = asText(result["level"]) || asText(asRecord(rule?.["defaultConfiguration"])["level"]);
  return level === "error";
}

function isLaidAside(result: Readonly<Record<string, unknown>>): boolean {
  const suppressed = asList(result["suppressions"]).some(
    (each) => !["underReview", "rejected"].includes(asText(asRecord(each)["status"])),
  );
  return suppressed || result["baselineState"] === "absent";
}

function pathOf(uri: string): string {
  try {
    return decodeURIComponent(uri.replace(/^file:\/\//, ""));
  } catch {
    // A per cent sign that begins nothing: the name is meant as it stands.
    return uri;
  }
}
