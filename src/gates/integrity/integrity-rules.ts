import { identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Finding, FindingDraft, Severity } from "../../core/gates/finding.ts";
import { INTEGRITY_RULES, type IntegrityRuleName } from "../../core/gates/registry.ts";
import type { Scope, ScopeException } from "../../core/stories/scope.ts";

export type RuleSettings = Readonly<Record<string, Severity | "off">>;

/**
 * Turns violations of rules into findings. The severity depends on the kind of work, on the config, and on a valid
 * reason.
 */
export interface RuleReporter {
  readonly isRework: boolean;
  /** Returns one finding, or none if the rule is off. */
  report(rule: IntegrityRuleName, breach: RuleReport): Finding[];
}

export type RuleReport = Pick<FindingDraft, "message" | "file" | "line" | "symbol" | "detail"> & {
  readonly suggestedFix: string;
  /** The severity, if the rule's default does not fit this case; the config overrides it. */
  readonly severity?: Severity;
};

export interface RuleReporterOptions {
  readonly isRework: boolean;
  readonly settings: RuleSettings;
  /** The agent's reasons. */
  readonly reasons?: readonly ScopeException[];
  /** Whether a reason counts by itself, or is only shown to the person who decides. */
  readonly exceptions?: Scope["exceptions"];
}

export function createRuleReporter(options: RuleReporterOptions): RuleReporter {
  const { isRework, settings, reasons = [], exceptions = "never" } = options;
  const reasonFor = new Map(reasons.map(({ path, rationale }) => [path.replace(/^\.\//, ""), rationale]));
  return {
    isRework,
    report(name, { severity: own, suggestedFix, message, ...rest }) {
      const rule = INTEGRITY_RULES[name];
      const set = settings[name];
      if (set === "off") return [];
      const mayBeExcused = rule.excusable && rest.file !== undefined;
      const given = mayBeExcused && exceptions !== "never" ? reasonFor.get(rest.file!) : undefined;
      const reason = exceptions === "with-rationale" ? given : undefined;
      const usual = isRework ? rule.rework : rule.newWork;
      const severity = reason === undefined ? (set ?? own ?? usual) : "info";
      const ask =
        mayBeExcused && isRework && exceptions !== "never"
          ? ` If it must be: \`Scope exception: ${rest.file}: <reason>\` in your report${exceptions === "ask" ? ", for a person to decide" : ""}.`
          : "";
      return [
        identifyFinding({
          severity,
          category: `integrity/${name}`,
          source: "integrity",
          message: reason === undefined ? message : `${message}; the reason given: ${reason.slice(0, LONGEST_REASON)}`,
          suggestedFix:
            severity === "info"
              ? "Nothing has to be done: look whether it is right."
              : `${suggestedFix}${ask} (${rule.why} A person can waive this finding; rule \`${name}\`.)`,
          ...rest,
          ...(given === undefined || reason !== undefined ? {} : { detail: shownReason(given, rest.detail) }),
        }),
      ];
    },
  };
}

const LONGEST_REASON = 300;

/**
 * Returns the details with the agent's reason. A reason permits nothing: it is shown to the person who may waive the
 * finding.
 */
const shownReason = (reason: string, detail: string | undefined): string =>
  [`The agent's reason: ${reason.slice(0, LONGEST_REASON)}`, ...(detail === undefined ? [] : [detail])].join("\n");
