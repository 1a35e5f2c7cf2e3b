import { endOfRun, type Secret } from "./secret-literals.ts";

/**
 * Keys and tokens that are known by their beginning. Nothing here backtracks: after a beginning is found, the text is
 * read once for as long as it can belong to the token, so hostile text costs no more than any other.
 */
interface TokenRule {
  readonly kind: string;
  readonly beginnings: readonly string[];
  readonly body: RegExp;
  /** The least number of characters of the body; with `exact`, the only one. */
  readonly least: number;
  readonly exact?: true;
  /** Does not begin inside a word: `task-list` contains `sk-`. */
  readonly apart?: true;
  readonly needsDigit?: true;
}

const WORD = /[A-Za-z0-9_]*/y;
const DASHED = /[A-Za-z0-9_-]*/y;
const DOTTED = /[A-Za-z0-9_.-]*/y;
const ALNUM = /[A-Za-z0-9]*/y;

const RULES: readonly TokenRule[] = [
  { kind: "anthropic-key", beginnings: ["sk-ant-"], body: DASHED, least: 16 },
  { kind: "openai-key", beginnings: ["sk-proj-", "sk-svcacct-", "sk-admin-"], body: DASHED, least: 16 },
  { kind: "openai-key", beginnings: ["sk-"], body: DASHED, least: 20, apart: true, needsDigit: true },
  { kind: "github-token", beginnings: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"], body: WORD, least: 30 },
  {
    kind: "gitlab-token",
    beginnings: ["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-", "glffct-"],
    body: DOTTED,
    least: 20,
  },
  {
    kind: "slack-token",
    beginnings: ["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xapp-"],
    body: DOTTED,
    least: 10,
  },
  { kind: "slack-webhook", beginnings: ["hooks.slack.com/services/"], body: /[A-Za-z0-9/]*/y, least: 20 },
  { kind: "npm-token", beginnings: ["npm_"], body: ALNUM, least: 36 },
  { kind: "pypi-token", beginnings: ["pypi-"], body: DASHED, least: 50 },
  {
    kind: "aws-key",
    beginnings: ["AKIA", "ASIA", "AGPA", "AIDA", "AROA", "ANPA", "ANVA"],
    body: /[A-Z0-9]{0,17}/y,
    least: 16,
    exact: true,
    apart: true,
  },
  { kind: "google-key", beginnings: ["AIza"], body: DASHED, least: 35 },
  { kind: "google-token", beginnings: ["ya29.", "GOCSPX-"], body: DOTTED, least: 20 },
  {
    kind: "stripe-key",
    beginnings: ["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"],
    body: ALNUM,
    least: 16,
  },
  { kind: "huggingface-token", beginnings: ["hf_"], body: ALNUM, least: 30, apart: true },
  { kind: "sendgrid-key", beginnings: ["SG."], body: DOTTED, least: 40, apart: true },
  { kind: "digitalocean-token", beginnings: ["dop_v1_", "doo_v1_", "dor_v1_"], body: ALNUM, least: 40 },
  { kind: "docker-token", beginnings: ["dckr_pat_", "dckr_oat_"], body: DASHED, least: 20 },
  { kind: "shopify-token", beginnings: ["shpat_", "shpca_", "shppa_", "shpss_"], body: ALNUM, least: 30 },
  { kind: "linear-key", beginnings: ["lin_api_"], body: ALNUM, least: 30 },
  { kind: "age-key", beginnings: ["AGE-SECRET-KEY-1"], body: ALNUM, least: 40 },
];

const RULE_OF: ReadonlyMap<string, TokenRule> = new Map(
  RULES.flatMap((rule) => rule.beginnings.map((beginning) => [beginning, rule] as const)),
);

/** Longer beginnings first: `sk-ant-` is not an `sk-`. */
export const TOKEN_BEGINNINGS = [...RULE_OF.keys()]
  .sort((a, b) => b.length - a.length)
  .map((text) => text.replaceAll(".", "\\."))
  .join("|");

export function findTokens(text: string): Secret[] {
  const secrets: Secret[] = [];
  const next = new RegExp(TOKEN_BEGINNINGS, "g");
  for (let match = next.exec(text); match !== null; match = next.exec(text)) {
    const start = match.index;
    const rule = RULE_OF.get(match[0])!;
    const from = start + match[0].length;
    if (rule.apart === true && !standsApart(text, start)) {
      next.lastIndex = start + 1;
      continue;
    }
    const end = endOfRun(text, from, rule.body);
    const isToken = end - from >= rule.least && (rule.exact !== true || end - from === rule.least);
    if (isToken && (rule.needsDigit !== true || /\d/.test(text.slice(from, end)))) {
      secrets.push({ start, end, kind: rule.kind });
      next.lastIndex = end;
    } else {
      // A long body without a digit is skipped as a whole: nothing inside it stands apart.
      next.lastIndex = isToken ? end : start + 1;
    }
  }
  return secrets;
}

/**
 * Whether no word precedes a position. An escape (`\n` in JSON) or a color code ends with a letter but is not a word,
 * and logs are full of both.
 */
function standsApart(text: string, at: number): boolean {
  if (at === 0 || !/[A-Za-z0-9_-]/.test(text.charAt(at - 1))) return true;
  const before = text.slice(Math.max(0, at - 12), at);
  // oxlint-disable-next-line no-control-regex -- the escape character is what is looked for
  return /\\[nrtbf]$|\u001b\[[\d;]*m$|%[0-9A-F]{2}$|\\u00[0-9a-f]{2}$/.test(before);
}

/** Finds JSON web tokens: three parts with dots between them, the first of which begins like JSON in base64. */
export function findJwts(text: string): Secret[] {
  const secrets: Secret[] = [];
  for (let start = text.indexOf("eyJ"); start !== -1;) {
    const first = endOfRun(text, start, DASHED);
    const second = text.charAt(first) === "." ? endOfRun(text, first + 1, DASHED) : first;
    const third = second > first && text.charAt(second) === "." ? endOfRun(text, second + 1, DASHED) : second;
    const isJwt = first - start >= 10 && second - first > 4 && third > second;
    if (isJwt) secrets.push({ start, end: third, kind: "jwt" });
    // A later beginning in the same run has the same end, so it cannot be a token either.
    start = text.indexOf("eyJ", Math.max(isJwt ? third : second, start + 1));
  }
  return secrets;
}

/**
 * Finds private keys from BEGIN to END. If one of them is missing (a log was cut), everything up to the other that
 * could belong to the key is included.
 */
export function findPrivateKeys(text: string): Secret[] {
  const begun = findBegunKeys(text);
  const known = new Set(begun.map(({ end }) => end));
  return [...begun, ...findEndedKeys(text).filter(({ end }) => !known.has(end))];
}

function findEndedKeys(text: string): Secret[] {
  const secrets: Secret[] = [];
  let after = 0;
  for (const { index, 0: end } of text.matchAll(/-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g)) {
    let start = index;
    while (start > after && index - start < LONGEST_KEY) {
      const line = Math.max(after, text.lastIndexOf("\n", start - 2) + 1);
      if (!KEY_LINE.test(text.slice(line, start))) break;
      start = line;
    }
    after = index + end.length;
    if (start < index) secrets.push({ start, end: after, kind: "private-key" });
  }
  return secrets;
}

function findBegunKeys(text: string): Secret[] {
  const secrets: Secret[] = [];
  const begin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
  let nextEnd = 0;
  for (let match = begin.exec(text); match !== null; match = begin.exec(text)) {
    const from = match.index + match[0].length;
    // The end is searched once: however many keys begin, the text is searched for their ends only one time.
    if (nextEnd !== -1 && nextEnd < from) nextEnd = text.indexOf(END_OF_KEY, from);
    const isNear = nextEnd !== -1 && nextEnd - from < LONGEST_KEY;
    const end = isNear ? endLine(text, nextEnd) : endOfRun(text, from, KEY_TEXT);
    secrets.push({ start: match.index, end, kind: "private-key" });
    begin.lastIndex = end;
  }
  return secrets;
}

const END_OF_KEY = "-----END ";
const LONGEST_KEY = 20_000;
const KEY_LINE = /^[ \t>+-]{0,8}[A-Za-z0-9+/]{16,}={0,2}\s{0,3}$/;
const KEY_TEXT = /[A-Za-z0-9+/=\\\s]*/y;

function endLine(text: string, at: number): number {
  const dashes = text.indexOf("-----", at + END_OF_KEY.length);
  return dashes !== -1 && dashes - at < 80 ? dashes + 5 : at + END_OF_KEY.length;
}
