import { INTEGRITY_RULES } from "../../../src/core/gates/integrity-rule.ts";
import { HONEST } from "./fake-green-honest.ts";
import { WAYS } from "./fake-green-ways.ts";

/** The tables of docs/guide/integrity-rules.md, from the rows that are tested. */
export function guideTables(): readonly string[] {
  return [rules(), ways(), honest()];
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");
const code = (text: string): string => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``);
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n");

function rules(): string {
  return table(
    ["rule", "new work", "rework", "a reason counts", "why"],
    Object.entries(INTEGRITY_RULES).map(([name, { newWork, rework, excusable, why }]) => [
      `\`${name}\``,
      newWork,
      rework,
      excusable ? "yes" : "",
      why,
    ]),
  );
}

function ways(): string {
  return table(
    ["#", "the agent …", "caught by", "result", "what you read"],
    WAYS.map(({ does, caughtBy, result, says, only }, index) => [
      String(index + 1),
      only === undefined ? does : `${does} (in ${only})`,
      caughtBy,
      result,
      code(says),
    ]),
  );
}

function honest(): string {
  return table(
    ["the agent …", "in new work", "in rework"],
    HONEST.map(({ does, asks }) => [
      does,
      "passes",
      asks === undefined ? "passes" : `${code(asks)}: passes with a reason`,
    ]),
  );
}
