/* oxlint-disable max-lines -- the texts of a project, whole */
import type { MadeRepository } from "./made.ts";

/** Double-entry bookkeeping in TypeScript, tested by vitest. */
export const ledger: MadeRepository = {
  name: "ledger",
  command: "npx --no-install vitest run",
  borrows: true,
  commits: [
    {
      subject: "accounts, entries and balances",
      files: {
        ".gitignore": "node_modules/\n",
        "README.md": "# Ledger\n\nBookkeeping in two columns.\n",
        "package.json": '{\n  "name": "ledger",\n  "version": "1.0.0",\n  "type": "module"\n}\n',
        "src/money.ts": `export interface Money {
  readonly cents: number;
  readonly currency: string;
}

export function money(cents: number, currency = "EUR"): Money {
  if (!Number.isInteger(cents)) throw new Error("cents must be whole");
  return { cents, currency };
}

export function plus(a: Money, b: Money): Money {
  if (a.currency !== b.currency) throw new Error("currencies differ");
  return money(a.cents + b.cents, a.currency);
}

export function minus(a: Money, b: Money): Money {
  return plus(a, money(-b.cents, b.currency));
}

/** Shares as even as can be: the first ones get what is left over. */
export function split(whole: Money, parts: number): Money[] {
  const share = Math.floor(whole.cents / parts);
  const rest = whole.cents - share * parts;
  return Array.from({ length: parts }, (_, at) => money(at < rest ? share + 1 : share, whole.currency));
}

export function isPositive(value: Money): boolean {
  return value.cents > 0;
}
`,
        "src/account.ts": `import { money, plus, type Money } from "./money.ts";

export type AccountKind = "asset" | "liability" | "income" | "expense";

export interface Account {
  readonly id: string;
  readonly kind: AccountKind;
  readonly name: string;
}

/** Which side makes an account grow. */
export function growsBy(kind: AccountKind): "debit" | "credit" {
  return kind === "asset" || kind === "expense" ? "debit" : "credit";
}

export function signOf(kind: AccountKind, side: "debit" | "credit"): 1 | -1 {
  return growsBy(kind) === side ? 1 : -1;
}

export function total(values: readonly Money[]): Money {
  return values.reduce((sum, value) => plus(sum, value), money(0));
}
`,
        "src/entry.ts": `import type { Account } from "./account.ts";
import { isPositive, type Money } from "./money.ts";

export interface Posting {
  readonly account: Account;
  readonly side: "debit" | "credit";
  readonly amount: Money;
}

export interface Entry {
  readonly date: string;
  readonly text: string;
  readonly postings: readonly Posting[];
}

export function isBalanced(entry: Entry): boolean {
  let sum = 0;
  for (const posting of entry.postings) {
    if (posting.side === "debit") sum += posting.amount.cents;
    else sum -= posting.amount.cents;
  }
  return sum === 0;
}

export function checked(entry: Entry): Entry {
  if (entry.postings.length < 2) throw new Error("an entry has two sides");
  if (!entry.postings.every((posting) => isPositive(posting.amount))) throw new Error("amounts are positive");
  if (!isBalanced(entry)) throw new Error("the sides differ");
  return entry;
}
`,
        "src/book.ts": `import { signOf, type Account } from "./account.ts";
import { checked, type Entry } from "./entry.ts";
import { money, plus, type Money } from "./money.ts";

export interface Book {
  readonly entries: readonly Entry[];
}

export const EMPTY: Book = { entries: [] };

export function record(book: Book, entry: Entry): Book {
  return { entries: [...book.entries, checked(entry)] };
}

export function balance(book: Book, account: Account, until = "9999-12-31"): Money {
  let sum = money(0);
  for (const entry of book.entries) {
    if (entry.date > until) continue;
    for (const posting of entry.postings) {
      if (posting.account.id !== account.id) continue;
      const sign = signOf(account.kind, posting.side);
      sum = plus(sum, money(posting.amount.cents * sign));
    }
  }
  return sum;
}

export function accountsOf(book: Book): Account[] {
  const seen = new Map<string, Account>();
  for (const entry of book.entries) for (const posting of entry.postings) seen.set(posting.account.id, posting.account);
  return [...seen.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}
`,
        "src/format.ts": `import type { Money } from "./money.ts";

export function formatMoney(value: Money): string {
  const sign = value.cents < 0 ? "-" : "";
  const cents = Math.abs(value.cents);
  const whole = Math.floor(cents / 100);
  const rest = String(cents % 100).padStart(2, "0");
  return \`\${sign}\${grouped(whole)}.\${rest} \${value.currency}\`;
}

export function grouped(value: number): string {
  const digits = String(value);
  const parts: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) parts.unshift(digits.slice(Math.max(0, end - 3), end));
  return parts.join(",");
}

export function column(text: string, width: number): string {
  return text.length > width ? text.slice(0, width - 1) + "…" : text.padEnd(width);
}
`,
        "test/money.test.ts": `import { describe, expect, test } from "vitest";
import { isPositive, minus, money, plus, split } from "../src/money.ts";

describe("money", () => {
  test("is added and taken away", () => {
    expect(plus(money(150), money(275))).toEqual({ cents: 425, currency: "EUR" });
    expect(minus(money(150), money(275)).cents).toBe(-125);
  });
  test("keeps to one currency", () => {
    expect(() => plus(money(1), money(1, "USD"))).toThrow("currencies differ");
    expect(() => money(1.5)).toThrow("whole");
  });
  test("is split without loss", () => {
    expect(split(money(100), 3).map((part) => part.cents)).toEqual([34, 33, 33]);
  });
  test("is positive above nothing", () => {
    expect(isPositive(money(1))).toBe(true);
    expect(isPositive(money(0))).toBe(false);
  });
});
`,
        "test/book.test.ts": `import { expect, test } from "vitest";
import { accountsOf, balance, EMPTY, record } from "../src/book.ts";
import { money } from "../src/money.ts";
import { total } from "../src/account.ts";
import type { Account } from "../src/account.ts";

const cash: Account = { id: "1000", kind: "asset", name: "Cash" };
const sales: Account = { id: "4000", kind: "income", name: "Sales" };
const sale = (date: string, cents: number) => ({
  date,
  text: "sale",
  postings: [
    { account: cash, side: "debit" as const, amount: money(cents) },
    { account: sales, side: "credit" as const, amount: money(cents) },
  ],
});

test("both sides grow by a sale", () => {
  const book = record(EMPTY, sale("2024-01-05", 900));
  expect(balance(book, cash).cents).toBe(900);
  expect(balance(book, sales).cents).toBe(900);
});

test("a balance is of a day", () => {
  const book = record(record(EMPTY, sale("2024-01-05", 900)), sale("2024-02-01", 100));
  expect(balance(book, cash, "2024-01-31").cents).toBe(900);
  expect(balance(book, cash, "2024-02-01").cents).toBe(1000);
});

test("an entry that is not balanced is refused", () => {
  const wrong = { ...sale("2024-01-05", 900), postings: [{ account: cash, side: "debit" as const, amount: money(9) }] };
  expect(() => record(EMPTY, wrong)).toThrow("two sides");
  const odd = sale("2024-01-05", 900);
  expect(() => record(EMPTY, { ...odd, postings: [odd.postings[0]!, { ...odd.postings[1]!, amount: money(1) }] })).toThrow("differ");
  expect(() => record(EMPTY, sale("2024-01-05", 0))).toThrow("positive");
});

test("accounts are listed in order", () => {
  expect(accountsOf(record(EMPTY, sale("2024-01-05", 900))).map((account) => account.id)).toEqual(["1000", "4000"]);
  expect(total([money(1), money(2)]).cents).toBe(3);
});
`,
        "test/format.test.ts": `import { expect, test } from "vitest";
import { column, formatMoney, grouped } from "../src/format.ts";
import { money } from "../src/money.ts";

test("money is written with two places", () => {
  expect(formatMoney(money(1234567))).toBe("12,345.67 EUR");
  expect(formatMoney(money(-5))).toBe("-0.05 EUR");
});

test("digits stand in threes", () => {
  expect(grouped(1000)).toBe("1,000");
  expect(grouped(999)).toBe("999");
});

test("a column has its width", () => {
  expect(column("cash", 6)).toBe("cash  ");
  expect(column("receivables", 6)).toBe("recei…");
});
`,
      },
    },
    {
      subject: "statements of a period",
      files: {
        "src/period.ts": `export interface Period {
  readonly from: string;
  readonly to: string;
}

export function contains(period: Period, date: string): boolean {
  return date >= period.from && date <= period.to;
}

export function monthOf(date: string): Period {
  const [year = "", month = ""] = date.split("-");
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return { from: \`\${year}-\${month}-01\`, to: \`\${year}-\${month}-\${String(days).padStart(2, "0")}\` };
}

export function quarterOf(date: string): number {
  const month = Number(date.split("-")[1]);
  return Math.floor((month - 1) / 3) + 1;
}
`,
        "src/statement.ts": `import { signOf, type Account } from "./account.ts";
import type { Book } from "./book.ts";
import { money, plus, type Money } from "./money.ts";
import { contains, type Period } from "./period.ts";

export interface Line {
  readonly date: string;
  readonly text: string;
  readonly amount: Money;
  readonly balance: Money;
}

export function statement(book: Book, account: Account, period: Period): Line[] {
  const lines: Line[] = [];
  let sum = money(0);
  for (const entry of book.entries) {
    for (const posting of entry.postings.filter((each) => each.account.id === account.id)) {
      const amount = money(posting.amount.cents * signOf(account.kind, posting.side));
      sum = plus(sum, amount);
      if (contains(period, entry.date)) lines.push({ date: entry.date, text: entry.text, amount, balance: sum });
    }
  }
  return lines;
}

export function turnover(lines: readonly Line[]): Money {
  return lines.reduce((sum, line) => plus(sum, money(Math.abs(line.amount.cents))), money(0));
}
`,
        "test/statement.test.ts": `import { expect, test } from "vitest";
import { EMPTY, record } from "../src/book.ts";
import { money } from "../src/money.ts";
import { contains, monthOf, quarterOf } from "../src/period.ts";
import { statement, turnover } from "../src/statement.ts";
import type { Account } from "../src/account.ts";

const cash: Account = { id: "1000", kind: "asset", name: "Cash" };
const rent: Account = { id: "6000", kind: "expense", name: "Rent" };
const paid = (date: string, cents: number) => ({
  date,
  text: "rent",
  postings: [
    { account: rent, side: "debit" as const, amount: money(cents) },
    { account: cash, side: "credit" as const, amount: money(cents) },
  ],
});

test("a month has its days", () => {
  expect(monthOf("2024-02-11")).toEqual({ from: "2024-02-01", to: "2024-02-29" });
  expect(contains(monthOf("2024-02-11"), "2024-02-29")).toBe(true);
  expect(contains(monthOf("2024-02-11"), "2024-03-01")).toBe(false);
  expect([quarterOf("2024-03-31"), quarterOf("2024-04-01"), quarterOf("2024-12-31")]).toEqual([1, 2, 4]);
});

test("a statement goes on from what was before", () => {
  const book = record(record(EMPTY, paid("2024-01-02", 500)), paid("2024-02-02", 700));
  const lines = statement(book, cash, monthOf("2024-02-11"));
  expect(lines.map((line) => [line.amount.cents, line.balance.cents])).toEqual([[-700, -1200]]);
  expect(turnover(lines).cents).toBe(700);
});
`,
      },
      edits: [
        [
          "src/account.ts",
          "export function total(",
          'export function isNominal(kind: AccountKind): boolean {\n  return kind === "income" || kind === "expense";\n}\n\nexport function total(',
        ],
        [
          "README.md",
          "Bookkeeping in two columns.",
          "Bookkeeping in two columns.\n\nStatements are of a period, a month as a rule.",
        ],
      ],
    },
    {
      subject: "exchange rates",
      files: {
        "data/rates.json": '{\n  "EUR": 100,\n  "USD": 92,\n  "GBP": 117\n}\n',
        "src/rates.ts": `import { readFileSync } from "node:fs";
import { money, type Money } from "./money.ts";

const RATES = JSON.parse(readFileSync(new URL("../data/rates.json", import.meta.url), "utf8")) as Record<string, number>;

export function rateOf(currency: string): number {
  const rate = RATES[currency];
  if (rate === undefined) throw new Error(\`no rate for \${currency}\`);
  return rate;
}

export function exchanged(value: Money, to = "EUR"): Money {
  if (value.currency === to) return value;
  const cents = (value.cents * rateOf(value.currency)) / rateOf(to);
  return money(Math.round(cents), to);
}
`,
        "test/rates.test.ts": `import { expect, test } from "vitest";
import { money } from "../src/money.ts";
import { exchanged, rateOf } from "../src/rates.ts";

test("dollars become euros", () => {
  expect(exchanged(money(1000, "USD"))).toEqual({ cents: 920, currency: "EUR" });
  expect(exchanged(money(1000, "GBP"), "USD").cents).toBe(1272);
  expect(exchanged(money(7)).cents).toBe(7);
});

test("an unknown currency has no rate", () => {
  expect(() => rateOf("XXX")).toThrow("no rate for XXX");
});
`,
      },
      edits: [
        [
          "src/format.ts",
          "export function column(",
          "/** Right-aligned, for figures. */\nexport function figure(text: string, width: number): string {\n  return text.padStart(width);\n}\n\nexport function column(",
        ],
        [
          "test/format.test.ts",
          "import { column, formatMoney, grouped }",
          "import { column, figure, formatMoney, grouped }",
        ],
        [
          "test/format.test.ts",
          'test("a column has its width"',
          'test("figures stand on the right", () => {\n  expect(figure("7", 3)).toBe("  7");\n});\n\ntest("a column has its width"',
        ],
        ["README.md", "a month as a rule.", "a month as a rule.\nRates are in data/rates.json."],
      ],
    },
    {
      subject: "a trial balance, and budgets",
      files: {
        "src/trial.ts": `import { accountsOf, balance, type Book } from "./book.ts";
import { growsBy } from "./account.ts";
import { column, figure, formatMoney } from "./format.ts";
import { money, plus } from "./money.ts";

export function trialBalance(book: Book): { debit: number; credit: number } {
  let [debit, credit] = [money(0), money(0)];
  for (const account of accountsOf(book)) {
    const sum = balance(book, account);
    if (growsBy(account.kind) === "debit") debit = plus(debit, sum);
    else credit = plus(credit, sum);
  }
  return { debit: debit.cents, credit: credit.cents };
}

export function report(book: Book): string[] {
  return accountsOf(book).map((account) => column(account.name, 8) + figure(formatMoney(balance(book, account)), 14));
}
`,
        "src/budget.ts": `import type { Money } from "./money.ts";

export interface Budget {
  readonly limit: Money;
  readonly warnAt: number;
}

export function standing(budget: Budget, spent: Money): "fine" | "warn" | "over" {
  if (spent.cents > budget.limit.cents) return "over";
  const share = spent.cents / budget.limit.cents;
  return share >= budget.warnAt ? "warn" : "fine";
}

export function left(budget: Budget, spent: Money): number {
  return Math.max(0, budget.limit.cents - spent.cents);
}
`,
        "test/trial.test.ts": `import { expect, test } from "vitest";
import { EMPTY, record } from "../src/book.ts";
import { left, standing } from "../src/budget.ts";
import { money } from "../src/money.ts";
import { report, trialBalance } from "../src/trial.ts";
import type { Account } from "../src/account.ts";

const cash: Account = { id: "1000", kind: "asset", name: "Cash" };
const sales: Account = { id: "4000", kind: "income", name: "Sales" };
const book = record(EMPTY, {
  date: "2024-01-05",
  text: "sale",
  postings: [
    { account: cash, side: "debit", amount: money(123450) },
    { account: sales, side: "credit", amount: money(123450) },
  ],
});

test("both columns are equal", () => {
  expect(trialBalance(book)).toEqual({ debit: 123450, credit: 123450 });
});

test("the report has a line for each account", () => {
  expect(report(book)).toEqual(["Cash      1,234.50 EUR", "Sales     1,234.50 EUR"]);
});

test("a budget warns before it is used up", () => {
  const budget = { limit: money(1000), warnAt: 0.8 };
  expect([standing(budget, money(799)), standing(budget, money(800)), standing(budget, money(1001))]).toEqual(["fine", "warn", "over"]);
  expect([left(budget, money(400)), left(budget, money(4000))]).toEqual([600, 0]);
});
`,
      },
      edits: [
        [
          "src/period.ts",
          'export function quarterOf(date: string): number {\n  const month = Number(date.split("-")[1]);\n  return Math.floor((month - 1) / 3) + 1;\n}',
          'const MONTHS_OF_QUARTER = 3;\n\nexport function quarterOf(date: string): number {\n  const month = Number(date.split("-")[1]);\n  return Math.floor((month - 1) / MONTHS_OF_QUARTER) + 1;\n}',
        ],
        ["src/book.ts", "export const EMPTY", "/** Nothing is recorded yet. */\nexport const EMPTY"],
        [
          "src/statement.ts",
          "  let sum = money(0);\n  for (const entry",
          "  // What was before the period counts, and is not shown.\n  let sum = money(0);\n  for (const entry",
        ],
        [
          "README.md",
          "Rates are in data/rates.json.",
          "Rates are in data/rates.json.\n\nThe trial balance adds both columns up.",
        ],
      ],
    },
  ],
};
