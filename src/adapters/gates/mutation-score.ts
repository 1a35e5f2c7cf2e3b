import { counted } from "../../domain/counted.ts";
import { identified, type Finding } from "../../domain/finding.ts";
import { MUTANT_STATUSES, type Mutant, type MutantStatus } from "../../readers/mutation-report.ts";

/**
 * Killed of those that tests could kill. What ran out of time was stopped by a clock and not by a test, so it is
 * counted by itself; what was left out for a reason, or could not even run, is not counted at all.
 */
export function mutationScore(mutants: readonly Mutant[]): {
  /** In per cent; `null` where nothing could be killed. */
  readonly score: number | null;
  readonly counts: Readonly<Record<MutantStatus, number>>;
  readonly words: string;
} {
  const counts = Object.fromEntries(
    MUTANT_STATUSES.map((status) => [status, mutants.filter((mutant) => mutant.status === status).length]),
  ) as Record<MutantStatus, number>;
  const killable = counts.killed + counts.survived + counts["no-coverage"];
  // Rounded down: 999 of 1000 are not all of them.
  const score = killable === 0 ? null : Math.floor((counts.killed / killable) * 1000) / 10;
  const apart = (["timeout", "ignored", "invalid", "pending"] as const)
    .filter((status) => counts[status] > 0)
    .map((status) => `${counts[status]} ${APART[status]}`);
  const main =
    score === null
      ? "nothing could be killed"
      : `${counts.killed} of ${counted(killable, "mutant")} killed, ${score} %`;
  return { score, counts, words: [main, ...apart].join(", ") };
}

const APART = {
  timeout: "timed out",
  ignored: "ignored",
  invalid: "that could not run",
  pending: "never tried",
} as const;

export function survivors(mutants: readonly Mutant[]): readonly Mutant[] {
  return mutants.filter(({ status }) => status === "survived" || status === "no-coverage");
}

/** The same change that goes unnoticed in several places of a file is one finding, which names them all. */
export function survivorFindings(mutants: readonly Mutant[]): readonly Finding[] {
  const known = new Map<string, Finding>();
  for (const finding of mutants.map(survivorFinding)) {
    const same = known.get(finding.id);
    if (same === undefined) known.set(finding.id, finding);
    else if (same.line !== finding.line)
      known.set(finding.id, { ...same, detail: `${same.detail ?? ""} The same at line ${finding.line}.`.trim() });
  }
  return [...known.values()];
}

export function survivorFinding(mutant: Mutant): Finding {
  const from = short(mutant.original);
  const to = short(mutant.replacement);
  return identified({
    severity: "critical",
    category: "mutation-survivor",
    message: `no test notices it when ${from === "" ? mutator(mutant) : `\`${from}\``} becomes ${to === "" ? "nothing" : `\`${to}\``}`,
    detail: mutant.status === "no-coverage" ? "No test runs this code at all." : `Mutator: ${mutator(mutant)}`,
    source: "mutation",
    file: mutant.file,
    line: mutant.line,
    suggestedFix: recommendedTest(mutant),
  });
}

const mutator = ({ mutator: name }: Mutant): string => (name === "" ? "a small change" : name);
const short = (code: string): string => code.replaceAll(/\s+/g, " ").replaceAll("`", "'").trim().slice(0, 80);

/** What a test would have to do to tell the two apart, by the kind of the change. */
function recommendedTest({ mutator: kind, original, replacement, file, line }: Mutant): string {
  const at = `${file}:${line}`;
  const known = RECOMMENDED.find(({ fits }) => fits.test(kind))?.test;
  const what = known ?? `Add a test whose result differs between \`${short(original)}\` and \`${short(replacement)}\``;
  return `${what} (${at}).`;
}

const RECOMMENDED: readonly { readonly fits: RegExp; readonly test: string }[] = [
  {
    fits: /Equality|Conditionals?Boundary|Relational/i,
    test: "Add a test at the boundary itself: the value where the comparison just holds, and the one where it just does not",
  },
  { fits: /Conditional|If|Boolean/i, test: "Add a test that takes the other branch, and expects another result there" },
  { fits: /Logical/i, test: "Add a test in which exactly one side of the condition holds" },
  {
    fits: /Arithmetic|Math|Assignment|Update|Unary/i,
    test: "Add a test that expects the exact number, with operands other than 0 and 1",
  },
  { fits: /String|Template|Regex/i, test: "Add a test that expects the exact text" },
  { fits: /Array|Object|Collection/i, test: "Add a test that expects what is in it, not only that it is there" },
  {
    fits: /Block|Statement|Call|Void|Method/i,
    test: "Add a test that sees the effect of this code: without it the test must fail",
  },
  { fits: /Optional|Null/i, test: "Add a test with the value missing" },
];
