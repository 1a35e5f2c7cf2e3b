import type { BaseTestVerdict } from "../../domain/base-test-verdict.ts";
import { contestedSummary } from "../../domain/contested-test.ts";
import { counted } from "../../domain/counted.ts";
import { failureFingerprint, type Finding } from "../../domain/finding.ts";
import type { Judgement } from "../../domain/gate.ts";
import { namesOf, noted } from "./pinned-run.ts";

/** A pass with what the base's tests say of it: contested tests, and notes on those that may change or were renamed. */
export function withContested(
  judged: Judgement,
  { contested, licensed, renamed }: Pick<BaseTestVerdict, "contested" | "licensed" | "renamed">,
  pinned: Judgement | null,
): Judgement {
  const notes = [
    ...(licensed.length === 0 ? [] : [`${counted(licensed.length, "test")} changed as allowed: ${namesOf(licensed)}`]),
    ...(renamed.length === 0 ? [] : [`${counted(renamed.length, "test")} renamed or moved: ${renamed.join(", ")}`]),
  ];
  const evidence = [...new Set([...judged.evidence, ...(pinned?.evidence ?? [])])];
  const held = notes.reduce(noted, { ...judged, evidence });
  if (contested.length === 0) return held;
  // No note: acceptance says who let them through.
  const summary = `${held.summary}; ${contestedSummary(contested)}`;
  return { ...held, contested, summary };
}

export function refused(
  judged: Judgement,
  findings: readonly Finding[],
  evidence: Judgement["evidence"] = [],
): Judgement {
  const { notes: _notes, ...rest } = judged;
  const summary = `checks: fail (${findings.map(({ message }) => message).join("; ")}), ${findings.length} to fix`;
  return {
    ...rest,
    ...withFailing(judged, findings),
    result: "fail",
    findings: [...judged.findings, ...findings],
    blocking: findings.map(({ id }) => id),
    failure: failureFingerprint(findings, summary),
    summary,
    evidence: [...new Set([...evidence, ...judged.evidence])],
  };
}

/** A target that fails with the base's tests fails, whatever the run with the author's own tests said. */
function withFailing({ identities }: Judgement, findings: readonly Finding[]): Pick<Judgement, "identities"> {
  if (identities === undefined) return {};
  const names = findings.map(({ symbol, message }) => symbol ?? message);
  const passing = identities.passing.filter((name) => !names.includes(name));
  return { identities: { ...identities, failing: [...new Set([...identities.failing, ...names])], passing } };
}

export function unproven(judged: Judgement, why: string): Judgement {
  const { notes: _notes, ...rest } = judged;
  const summary = `checks: inconclusive (the targets could not be run with the base's version of their tests: ${why})`;
  return { ...rest, result: "inconclusive", summary };
}
