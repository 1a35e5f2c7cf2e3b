import { z } from "zod";
import { BLAME_VERDICTS } from "../domain/blame.ts";
import { BRIEF_VARIANTS, REPORT_WAYS, type Brief } from "../domain/brief.ts";
import { FAILURE_CEILING } from "../domain/budget.ts";
import { identified, type Finding } from "../domain/finding.ts";
import { CI_CLASSES, GATES, type GateName } from "../domain/gate.ts";
import { fingerprint, roleName, STORY_ID_PATTERN } from "../domain/ids.ts";
import { PHASES, TDD_PHASES } from "../domain/phase.ts";
import { RESULTS } from "../domain/result.ts";
import { TEST_POLICIES } from "../domain/scope.ts";
import { severityFromWord } from "../domain/severity.ts";
import { nearMiss } from "../stdx/near-miss.ts";
import { expectedWords } from "./issue-words.ts";

/*
 * A brief as a document, `remand.brief/1`: what another orchestrator writes by hand and gives to `remand brief`.
 * Only the story's id is needed; everything else has a default that says "nothing known about that".
 */

const text = z.string();
const texts = z.array(text).default([]);
const count = z.int().min(1);
const lineNumber = z.int().min(0);
const confidence = z.number().min(0).max(1);

const severity = text
  .refine((word) => severityFromWord(word) !== undefined, {
    error: "no known severity; use blocker, critical, major, minor or info",
  })
  .default("major");

const findingSchema = z.strictObject({
  id: text.optional(),
  severity,
  category: text.default("general"),
  message: text,
  source: text.default("unknown"),
  file: text.optional(),
  line: lineNumber.optional(),
  symbol: text.optional(),
  suggestedFix: text.optional(),
  criterion: text.optional(),
  stage: text.optional(),
});

const suspectSchema = z.strictObject({
  file: text,
  line: lineNumber,
  endLine: lineNumber.optional(),
  symbol: text.optional(),
  change: text.default(""),
  commit: text.optional(),
  story: text.optional(),
  attempt: count.optional(),
  role: text.optional(),
  phase: text.optional(),
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
  exceptions: z.enum(["with-rationale", "never"]).default("with-rationale"),
  reason: text.default(""),
});

const routeSchema = z.strictObject({
  phase: z.enum(PHASES).default("implement"),
  role: text.default("developer"),
  tddPhase: z.enum(TDD_PHASES).optional(),
  reason: text.default(""),
});

const stageSchema = z.strictObject({
  stage: text,
  result: z.enum(RESULTS),
  reviewer: text.default("critic"),
  summary: text.optional(),
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

export const BRIEF_DOCUMENT = "remand.brief/1";

export const briefSchema = z.strictObject({
  schema: z.literal(BRIEF_DOCUMENT),
  story: z.strictObject({
    id: text.regex(STORY_ID_PATTERN, { error: "an id has letters, digits, dots, dashes and underscores, at most 100" }),
    title: text.default(""),
    goal: text.default(""),
  }),
  gate: z.enum(GATES).default("review"),
  variant: z.enum(BRIEF_VARIANTS).optional(),
  attempt: count.default(2),
  failure: count.default(1),
  failureLimit: count.max(FAILURE_CEILING).default(3),
  locationAttempt: count.optional(),
  route: routeSchema.prefault({}),
  rolePrompt: text.default(""),
  summary: text.default(""),
  evidence: z.array(z.strictObject({ title: text.default("evidence"), text, fullAt: text.optional() })).default([]),
  blame: blameSchema.nullable().default(null),
  required: z.array(findingSchema).default([]),
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
  earlier: z.array(z.strictObject({ attempt: count, tried: text, failed: text })).default([]),
  context: texts,
  guidance: texts,
  scope: scopeSchema.prefault({}),
  judgedBy: texts,
  report: z.enum(REPORT_WAYS).default("signal"),
  spellOutFormat: z.boolean().default(false),
});

type BriefDocument = z.output<typeof briefSchema>;

/** The document as people write it: what has a default may be left out. */
export type BriefInput = z.input<typeof briefSchema>;

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
function briefFrom(document: BriefDocument): Brief {
  const { schema: _schema, variant, locationAttempt, ...rest } = document;
  const { tddPhase, ...route } = document.route;
  return {
    ...rest,
    variant: variant ?? variantOf(document),
    ...(locationAttempt === undefined ? {} : { locationAttempt }),
    route: { ...route, role: roleName(route.role), ...(tddPhase === undefined ? {} : { tddPhase }) },
    evidence: document.evidence.map(({ title, text: whole, fullAt }) => ({ title, text: whole, ...given({ fullAt }) })),
    blame:
      document.blame === null
        ? null
        : {
            ...document.blame,
            suspects: document.blame.suspects.map(
              ({ endLine, symbol, commit, story, attempt, role, phase, ...suspect }) => ({
                ...suspect,
                ...given({ endLine, symbol, commit, story, attempt, role, phase }),
              }),
            ),
          },
    required: document.required.map(findingFrom),
    information: document.information.map(findingFrom),
    stages: document.stages.map(({ summary, ...stage }) => ({
      ...stage,
      reviewer: roleName(stage.reviewer),
      ...given({ summary }),
    })),
  };
}

/** Checks that pass in one environment and fail in another have a form of their own (S0). */
function variantOf({ gate, runs }: BriefDocument): Brief["variant"] {
  const failing = new Set(runs.filter((run) => run.result !== "pass").map((run) => run.environment));
  const differs = failing.size > 0 && runs.some((run) => !failing.has(run.environment));
  return gate === "checks" && differs ? "environment" : VARIANT_OF_GATE[gate];
}

const VARIANT_OF_GATE: Readonly<Record<GateName, Brief["variant"]>> = {
  integrity: "integrity",
  checks: "goal",
  tdd: "tdd",
  review: "review",
  audit: "audit",
  mutation: "mutation",
  ci: "ci",
  merge: "merge",
};

function findingFrom(read: z.output<typeof findingSchema>): Finding {
  const { id, severity: word, category, message, source, ...known } = read;
  const finding = identified({ severity: severityFromWord(word)!, category, message, source, ...given(known) });
  return id === undefined ? finding : { ...finding, id: fingerprint(id) };
}

/** Without the keys whose value is `undefined`: an optional field is there or it is not. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
