import { z } from "zod";
import { BLAME_VERDICTS } from "../blame/blame.ts";
import { BRIEF_VARIANTS, GATE_REGISTRY } from "../gates/registry.ts";
import { type Brief, REPORT_WAYS } from "../stories/brief.ts";
import { FAILURE_CEILING } from "../stories/budget.ts";
import { CI_CLASSES, GATES, type GateName, isReviewed } from "../gates/gate.ts";
import { type RoleName, STORY_ID_PATTERN, fingerprint, roleName } from "../events/ids.ts";
import { PHASES, TDD_PHASES } from "../stories/story.ts";
import { RESULTS } from "../events/error.ts";
import { TEST_POLICIES } from "../stories/scope.ts";
import { severityFromWord, type Finding, TRIED_FINDING_STATUSES } from "../gates/finding.ts";
import { brandSchema } from "./scalars.ts";
import { scopeExceptionsSchema } from "./story.ts";
import { identifyFinding } from "../gates/finding-identity.ts";
import { nearMiss } from "../../stdx/plain-text.ts";
import { expectedWords } from "./issue-text.ts";

/*
 * A brief as a document, `remand.brief/1`: another orchestrator writes it and passes it to `remand brief`. Only the
 * story's id is required; every default means "nothing known".
 */

const text = z.string();
const texts = z.array(text).default([]);
const count = z.int().min(1);
const lineNumber = z.int().min(0);
const confidence = z.number().min(0).max(1);
const role = brandSchema<RoleName>(text);

const severity = text
  .refine((word) => severityFromWord(word) !== undefined, {
    error: "no known severity; use blocker, critical, major, minor or info",
  })
  .default("major");

const findingSchema = z.strictObject({
  id: text.exactOptional(),
  severity,
  category: text.default("general"),
  message: text,
  source: text.default("unknown"),
  file: text.exactOptional(),
  line: lineNumber.exactOptional(),
  symbol: text.exactOptional(),
  suggestedFix: text.exactOptional(),
  criterion: text.exactOptional(),
  stage: text.exactOptional(),
});

const suspectSchema = z.strictObject({
  file: text,
  line: lineNumber,
  endLine: lineNumber.exactOptional(),
  symbol: text.exactOptional(),
  change: text.default(""),
  commit: text.exactOptional(),
  story: text.exactOptional(),
  attempt: count.exactOptional(),
  role: text.exactOptional(),
  phase: text.exactOptional(),
  confidence: confidence.default(0.5),
  reasons: texts,
});

const blameSchema = z.strictObject({
  verdict: z.enum(BLAME_VERDICTS),
  basis: z.enum(["proven", "ranked"]).default("ranked"),
  confidence: confidence.default(0.5),
  suspects: z.array(suspectSchema).default([]),
  explanation: text.default(""),
  testRuns: z.int().min(0).default(0),
});

const scopeSchema = z.strictObject({
  allow: texts,
  deny: texts,
  tests: z.enum(TEST_POLICIES).default("add-only"),
  exceptions: scopeExceptionsSchema.default("ask"),
  restore: z.array(text).exactOptional(),
  reason: text.default(""),
});

const routeSchema = z.strictObject({
  phase: z.enum(PHASES).default("implement"),
  role: role.default(roleName("developer")),
  tddPhase: z.enum(TDD_PHASES).exactOptional(),
  reason: text.default(""),
});

const stageSchema = z.strictObject({
  stage: text,
  result: z.enum(RESULTS),
  reviewer: role.default(roleName("critic")),
  summary: text.exactOptional(),
});

const runSchema = z.strictObject({
  check: text,
  command: text.default(""),
  environment: text.default("default"),
  result: z.enum(RESULTS),
  exitCode: z.int().nullable().default(null),
  details: text.default(""),
});

const criterionSchema = z.strictObject({
  criterion: text,
  status: z.enum(["verified", "failed", "unknown"]),
  evidence: text.default(""),
});

/** A planted fault that no test noticed. */
const survivorSchema = z.strictObject({
  file: text,
  line: lineNumber,
  mutation: text,
  description: text.default(""),
  recommendedTest: text.default(""),
});

const conflictSchema = z.strictObject({
  file: text,
  line: lineNumber,
  between: z.tuple([text, text]),
  says: z.tuple([text, text]),
  winner: text.nullable().default(null),
});

/** Untrusted text: the brief's writer fences and caps it. `fullAt`: where the whole text is stored. */
const evidenceSchema = z.strictObject({ title: text.default("evidence"), text, fullAt: text.exactOptional() });

const earlierSchema = z.strictObject({
  attempt: count,
  tried: text,
  failed: text,
  findings: z
    .array(
      z.strictObject({
        id: text.default(""),
        gate: z.enum(GATES).exactOptional(),
        title: text,
        file: text.exactOptional(),
        line: lineNumber.exactOptional(),
        status: z.enum(TRIED_FINDING_STATUSES).default("open"),
        seenIn: count.exactOptional(),
      }),
    )
    .default([]),
});

export const BRIEF_DOCUMENT = "remand.brief/1";

export const briefSchema = z.strictObject({
  schema: z.literal(BRIEF_DOCUMENT),
  story: z.strictObject({
    id: text.regex(STORY_ID_PATTERN, { error: "an id has letters, digits, dots, dashes and underscores, at most 100" }),
    title: text.default(""),
    goal: text.default(""),
  }),
  gate: z.enum(GATES).default("review"),
  variant: z.enum(BRIEF_VARIANTS).exactOptional(),
  attempt: count.default(2),
  failure: count.default(1),
  failureLimit: count.max(FAILURE_CEILING).default(3),
  /**
   * How often work was sent back for the blamed location (S3.10); if that is not counted, `failure` is used instead.
   */
  locationAttempt: count.exactOptional(),
  route: routeSchema.prefault({}),
  /** The role file's own text, which comes before the assignment (S0.8). */
  rolePrompt: text.default(""),
  summary: text.default(""),
  evidence: z.array(evidenceSchema).default([]),
  blame: blameSchema.nullable().default(null),
  required: z.array(findingSchema).default([]),
  /** Blocking findings of other gates that failed before and have not run since. */
  stillOpen: z.array(findingSchema).default([]),
  information: z.array(findingSchema).default([]),
  requiredFixes: texts,
  priority: z.enum(["HIGH", "MEDIUM", "LOW"]).default("MEDIUM"),
  stages: z.array(stageSchema).default([]),
  runs: z.array(runSchema).default([]),
  criteria: z.array(criterionSchema).default([]),
  survivors: z.array(survivorSchema).default([]),
  mutationScore: text.default(""),
  ci: z
    .strictObject({ class: z.enum(CI_CLASSES), step: text.default(""), runId: text.default("") })
    .nullable()
    .default(null),
  conflicts: z.array(conflictSchema).default([]),
  filesModified: texts,
  earlier: z.array(earlierSchema).default([]),
  /** What reviewers learned, and what people said. */
  context: texts,
  guidance: texts,
  scope: scopeSchema.prefault({}),
  judgedBy: texts,
  report: z.enum(REPORT_WAYS).default("signal"),
  /** The agent's last reply was unreadable, so the brief explains the format in full. */
  spellOutFormat: z.boolean().default(false),
});

export type BriefDocument = z.output<typeof briefSchema>;

/** The document as people write it: fields with a default are optional. */
export type BriefInput = z.input<typeof briefSchema>;

/** Reads a brief from a document, or returns its problems, each with the path of its field. */
export function readBriefDocument(
  value: unknown,
): { readonly brief: Brief } | { readonly problems: readonly string[] } {
  const read = briefSchema.safeParse(value);
  return read.success
    ? { brief: briefFrom(read.data) }
    : { problems: read.error.issues.flatMap((issue) => problemsOf(issue, value)) };
}

/**
 * Describes a problem in plain words. Messages of our own rules are used as they are; the library's are not for users.
 */
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

/** Converts the document for the program: severities on the one scale, every finding with an identity. */
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

/** Checks that pass in one environment and fail in another have their own form of brief (S0.25). */
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
