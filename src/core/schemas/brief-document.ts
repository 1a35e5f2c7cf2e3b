import type { z } from "zod";
import type { Brief } from "../stories/brief.ts";
import { identifyFinding } from "../gates/finding-identity.ts";
import type { Finding } from "../gates/finding.ts";
import { type GateName, isReviewed } from "../gates/gate.ts";
import { GATE_REGISTRY } from "../gates/registry.ts";
import { fingerprint } from "../events/ids.ts";
import { severityFromWord } from "../gates/severity.ts";
import { nearMiss } from "../../stdx/near-miss.ts";
import { briefSchema, type BriefDocument } from "./brief.ts";
import { expectedWords } from "./issue-text.ts";

/** A document's brief; or what is wrong with the document, each problem with the path of its field. */
export function readBriefDocument(
  value: unknown,
): { readonly brief: Brief } | { readonly problems: readonly string[] } {
  const read = briefSchema.safeParse(value);
  return read.success
    ? { brief: briefFrom(read.data) }
    : { problems: read.error.issues.flatMap((issue) => problemsOf(issue, value)) };
}

/** What is wrong, in plain words. Rules of our own say it themselves; what the library says of its own is for us. */
function problemsOf(issue: z.core.$ZodIssue, document: unknown): readonly string[] {
  const { path } = issue;
  if (issue.code === "unrecognized_keys") {
    const known = path.length === 0 ? Object.keys(briefSchema.shape) : [];
    return issue.keys.map((key) => {
      const meant = nearMiss(key, known);
      return `${pathText([...path, key])}: there is no such field${meant === undefined ? "" : ` (did you mean ${meant}?)`}`;
    });
  }
  if (issue.code === "custom" || issue.code === "invalid_format") return [`${pathText(path)}: ${issue.message}`];
  let value = document;
  for (const key of path) value = (value as Readonly<Record<PropertyKey, unknown>>)[key];
  const isMissing = value === undefined && path.length > 0;
  return [`${pathText(path)}: ${isMissing ? "it is missing, and must be" : "it must be"} ${expectedWords(issue)}`];
}

function pathText(keys: readonly PropertyKey[]): string {
  let path = "";
  for (const key of keys) path += typeof key === "number" ? `[${key}]` : `${path === "" ? "" : "."}${String(key)}`;
  return path === "" ? "the document" : path;
}

/** The document as the rest of the program knows it: severities on the one scale, every finding with an identity. */
function briefFrom({ schema: _schema, ...document }: BriefDocument): Brief {
  return {
    ...document,
    variant: document.variant ?? variantOf(document),
    required: document.required.map(findingFrom),
    stillOpen: document.stillOpen.map(findingFrom),
    information: document.information.map(findingFrom),
    earlier: document.earlier.map((earlier) => earlierFrom(earlier, document.gate)),
  };
}

/** Checks that pass in one environment and fail in another have a form of their own (S0). */
function variantOf({ gate, runs }: Pick<BriefDocument, "gate" | "runs">): Brief["variant"] {
  const failing = new Set(runs.filter((run) => run.result !== "pass").map((run) => run.environment));
  const differs = failing.size > 0 && runs.some((run) => !failing.has(run.environment));
  const { brief, hasEnvironmentBrief } = GATE_REGISTRY[gate];
  return hasEnvironmentBrief && !isReviewed(gate) && differs ? "environment" : brief;
}

function findingFrom({ id, severity: word, ...known }: BriefDocument["required"][number]): Finding {
  const finding = identifyFinding({ ...known, severity: severityFromWord(word)! });
  return id === undefined ? finding : { ...finding, id: fingerprint(id) };
}

function earlierFrom(read: BriefDocument["earlier"][number], gate: GateName): Brief["earlier"][number] {
  const { findings, ...earlier } = read;
  if (findings.length === 0) return earlier;
  return {
    ...earlier,
    findings: findings.map((finding) => ({
      ...finding,
      gate: finding.gate ?? gate,
      seenIn: finding.seenIn ?? earlier.attempt,
    })),
  };
}
