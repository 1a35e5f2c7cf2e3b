import { identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Finding, FindingDraft, Severity } from "../../core/gates/finding.ts";
import { INTEGRITY_RULES, type IntegrityRuleName } from "../../core/gates/registry.ts";
import type { Scope, ScopeException } from "../../core/stories/scope.ts";

export type RuleSettings = Readonly<Record<string, Severity | "off">>;

/** How a breach of a rule becomes a finding: how grave it is depends on the work, on the config, and on a good reason. */
export interface RuleReporter {
  readonly isRework: boolean;
  /** One finding, or none where the rule is switched off. */
  report(rule: IntegrityRuleName, breach: RuleReport): Finding[];
}

export type RuleReport = Pick<FindingDraft, "message" | "file" | "line" | "symbol" | "detail"> & {
  readonly suggestedFix: string;
  /** How grave it is where the rule's own answer does not fit this case; a config has the last word. */
  readonly severity?: Severity;
};

export interface RuleReporterOptions {
  readonly isRework: boolean;
  readonly settings: RuleSettings;
  /** The reasons that the agent gave. */
  readonly reasons?: readonly ScopeException[];
  /** Does a reason count by itself, or is it only shown to who decides? */
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

/** What an agent says about its own change opens nothing: it is shown to the person who may waive the finding. */
const shownReason = (reason: string, detail: string | undefined): string =>
  [`The agent's reason: ${reason.slice(0, LONGEST_REASON)}`, ...(detail === undefined ? [] : [detail])].join("\n");
