import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { withTestedWork } from "../../../src/gates/pinned/tested-work.ts";
import type { ChecksGate, TestedJudgement } from "../../../src/gates/checks/checks-gate.ts";
import { evidenceId, treeId } from "../../../src/core/events/ids.ts";
import { identifyFinding } from "../../../src/core/gates/finding-identity.ts";
import { suiteResultsText } from "../../../src/core/gates/test-names.ts";
import { linesOf } from "../../../src/gates/faults/planted-faults.ts";
import { valuesLike } from "../../../src/gates/faults/wrong-expectation.ts";
import type { CheckoutRequest } from "../../../src/ports/experiment-runner.ts";
import type { GateRequest } from "../../../src/ports/gate.ts";
import { gateRequest } from "../../contract/gate.ts";
import { fakeWorkspace, judgementOf } from "../../kit/reviewers.ts";

const CONTROL = { signal: new AbortController().signal, onOutput: () => undefined };
const TARGET = "test/cart.test.js > adds";
const OTHER = "test/total.test.js > sums";
const TEST = 'import { add } from "../src/cart.js";\ntest("adds", () => equal(add(2, 1), 3));\n';
const TOTAL = 'import { total } from "../src/total.js";\ntest("sums", () => equal(total(2, 1), 3));\n';
const SUM = "export const total = (a, b) => a + b;\n";

type Files = Readonly<Record<string, string>>;
/** The message of each test with these files: `null` is a pass; a missing test does not report. */
type Suite = (files: Files) => Readonly<Record<string, string | null>>;

interface World {
  readonly base?: Files;
  readonly work: Files;
  readonly suite?: Suite;
  readonly targets?: readonly string[];
  readonly request?: Partial<GateRequest>;
  readonly isNamed?: boolean;
  /** The duration of the suite, and of the suite at the base. */
  readonly durationMs?: number;
  readonly baseMs?: number;
  readonly beforeRun?: (prepare: () => Promise<void>, limits: readonly number[]) => Promise<void>;
  /** Whether test files can run alone. */
  readonly isSelectable?: boolean;
  /** Whether each call of the clock is a minute later, so that all time limits are exceeded. */
  readonly isLate?: boolean;
  /** Whether the clock advances by the duration of runs. */
  readonly isTimed?: boolean;
}

/** Runs the body of a one-line function. */
function valueOf(text: string, ...args: readonly number[]): unknown {
  return runInNewContext(text.slice(text.lastIndexOf("=>") + 2), { a: args[0], b: args[1] });
}

/** Returns a test's message. The last three numbers of the test are inputs and the expected value. */
function says(text: string, test = "2, 1, 3"): string | null {
  const [a = 0, b = 0, sum] = (test.match(/\d+/g) ?? []).slice(0, 3).map(Number);
  try {
    const value = valueOf(text, a, b);
    return value === sum ? null : `${String(value)} is not ${sum}`;
  } catch (error) {
    return String(error);
  }
}

const honest: Suite = (files) => ({
  [TARGET]: says(files["src/cart.js"]!, files["test/cart.test.js"]),
  [OTHER]: says(files["src/total.js"]!, files["test/total.test.js"]),
});

/** Assertions do nothing if the helper is empty; an error is still an error. */
const disarmed: Suite = (files) => {
  const real = honest(files);
  if (!files["lib/same.js"]!.includes("undefined")) return real;
  return Object.fromEntries(Object.entries(real).map(([name, said]) => [name, said?.includes("Error") ? said : null]));
};

const BASE = {
  "src/cart.js": "export const add = (a, b) => a - b;\n",
  "src/total.js": SUM,
  "lib/same.js": "export const same = (a, b) => equal(a, b);\n",
  "test/cart.test.js": TEST,
  "test/total.test.js": TOTAL,
};

/** Judges the work with scripted checks, and counts the runs in which a fault may be planted. */
async function judged(world: World) {
  const { work, suite = honest, targets = [TARGET], request, isNamed = true } = world;
  const base: Files = world.base ?? BASE;
  const { durationMs = 1, baseMs = durationMs, isSelectable = false, isLate = false, isTimed = false } = world;
  let minutes = 0;
  const all = { ...base, ...work };
  const trees: Record<string, Files> = { base, "tree-now": all };
  let runs = 0;
  const limits: number[] = [];
  const result = (files: Files, tookMs = durationMs): TestedJudgement => {
    const entries = Object.entries(suite(files));
    const failed = entries.filter(([, said]) => said !== null) as [string, string][];
    const passed = new Map(entries.filter(([, said]) => said === null).map(([name]) => [name, 1]));
    const findings = failed.map(([name, message]) => {
      const [file = "", symbol = ""] = name.split(" > ");
      return identifyFinding({ severity: "critical", category: "test", source: "test", file, symbol, message });
    });
    const identities = {
      failing: [],
      unlisted: 0,
      passedAtBase: [],
      passedLast: [],
      notLoaded: [],
      ranTests: ["test"],
    };
    return {
      judgement: judgementOf({
        gate: "checks",
        durationMs: tookMs,
        result: failed.length === 0 ? "pass" : "fail",
        findings,
        blocking: findings.map(({ id }) => id),
        identities: { ...identities, passing: [...passed.keys()] },
      }),
      tests: { isNamed, passed, failed: new Set(failed.map(([name]) => name)), ran: entries.length },
    };
  };
  const open: Files[] = [];
  const atBase = new Set<number>();
  const own = { judgeTests: () => Promise.resolve(result(all)) };
  let tried = 0;
  let triedAtWork = 0;
  let elapsedMs = 0;
  const planted = {
    judgeTests({ path }: GateRequest) {
      tried++;
      const at = Number(path.slice(7));
      elapsedMs += atBase.has(at) ? baseMs : durationMs;
      if (!atBase.has(at)) triedAtWork++;
      return Promise.resolve(result(open[at]!, atBase.has(at) ? baseMs : durationMs));
    },
  };
  const kept = new Map<string, unknown>();
  const gate = withTestedWork({ name: "checks", ...own } as unknown as ChecksGate, {
    evidence: { read: () => Promise.resolve(suiteResultsText(result(base).tests)) },
    experimentRunner: {
      open({ commit, tree }: CheckoutRequest) {
        const at = open.push({ ...trees[tree ?? commit ?? ""] }) - 1;
        if (tree === undefined) atBase.add(at);
        return Promise.resolve({
          path: `/bench/${at}`,
          set(
            tree: string,
            texts: ReadonlyMap<string, string | null>,
            put?: { readonly from: string; readonly paths: readonly string[] },
          ) {
            const files = { ...trees[tree], ...Object.fromEntries(texts) } as Record<string, string>;
            for (const path of put?.paths ?? []) {
              const old = trees[put!.from]![path];
              if (old === undefined) delete files[path];
              else files[path] = old;
            }
            open[at] = files;
            return Promise.resolve(treeId("planted"));
          },
          paths: () => Promise.resolve(Object.keys(open[at]!)),
          text: (path: string) => open[at]![path] ?? null,
          close: () => Promise.resolve(),
        });
      },
    },
    workspace: fakeWorkspace({
      changedPaths: () => Promise.resolve(Object.keys(work)),
      fileAt: (_story, at, path) => Promise.resolve((at === "base" ? base : all)[path] ?? null),
    }),
    testPaths: ["test/**"],
    oracle: [],
    product: [],
    commands: ["npm test"],
    faults: {
      clock: { now: () => (isLate ? minutes++ * 60_000 : isTimed ? elapsedMs : 0), sleep: () => Promise.resolve() },
      store: {
        find: (_base, tests) => Promise.resolve(kept.get(tests) ?? null),
        keep: (_base, tests, found) => Promise.resolve(void kept.set(tests, found)),
      },
      checksFor: (files, { limitMs }) => {
        runs++;
        limits.push(limitMs);
        return { gate: planted as unknown as ChecksGate, isSelected: isSelectable && files.length > 0 };
      },
    },
  });
  const baseRun = { ended: [], ranTests: ["test"], notLoaded: [], tests: evidenceId("base-tests") };
  const failures = { failing: targets, flaky: [], known: [], targets };
  const asked = gateRequest({ baseRun, atBase: failures, ...request });
  await world.beforeRun?.(() => gate.prepare!(asked, CONTROL), limits);
  const judgement = await gate.run(asked, CONTROL);
  return {
    judgement,
    again: () => gate.run(asked, CONTROL),
    runs: () => runs,
    tried,
    tries: () => tried,
    triesAtWork: () => triedAtWork,
  };
}

const FIX = { "src/cart.js": "export const add = (a, b) => a + b;\n" };

describe("a check that can fail", () => {
  test("passes without a note", async () => {
    const { judgement } = await judged({ work: FIX });
    expect(judgement).toMatchObject({ result: "pass" });
    expect([judgement.notes, judgement.contested]).toEqual([undefined, undefined]);
  });

  test("detects faults in a package that it imports by its folder or name", async () => {
    for (const from of ["..", "shop"]) {
      const base = {
        ...BASE,
        "package.json": '{ "name": "shop", "main": "src/cart.js" }',
        "test/cart.test.js": TEST.replace("../src/cart.js", from),
      };
      const { judgement } = await judged({
        base,
        work: { "lib/same.js": "export const same = () => undefined;\n" },
        suite: disarmed,
        isSelectable: true,
      });
      expect(judgement.findings.map(({ message }) => message).join()).toContain("a fault in src/cart.js");
    }
  });

  test("is tried at the base once, however often the work is judged", async () => {
    const { again, runs } = await judged({ work: FIX });
    const first = runs();
    await again();
    expect(runs() - first).toBeLessThan(first);
  });

  test.each([
    ["fails at the base", {}],
    ["passes there", { base: { ...BASE, ...FIX }, targets: [] }],
  ])("is ended when a fault keeps it from ending, and it %s", async (_, world) => {
    let seen: readonly number[] = [];
    const beforeRun = async (prepare: () => Promise<void>, limits: readonly number[]): Promise<void> => {
      await prepare();
      seen = [...limits];
    };
    await judged({ work: FIX, ...world, beforeRun });
    expect(seen.length).toBeGreaterThan(1);
    expect(Math.min(...seen)).toBe(10_002);
  });

  test("passes if the line was moved and its old location is dead code", async () => {
    const work = { "src/total.js": SUM, "src/new.js": SUM, "src/cart.js": FIX["src/cart.js"] };
    const suite: Suite = (files) => ({
      ...honest(files),
      [OTHER]: says(files["src/new.js"] ?? files["src/total.js"]!),
    });
    const base = { ...BASE, "test/total.test.js": `${TOTAL}import { more } from "../src/new.js";\n` };
    const { judgement } = await judged({ base, work, suite });
    expect(judgement.result).toBe("pass");
    expect(judgement.contested).toBeUndefined();
  });
});

describe("work that makes the comparison accept the wrong value", () => {
  /** Detects everything except the base's value in place of the right one. */
  const widened: Suite = (files) => {
    const real = honest(files);
    const isWide = files["lib/same.js"]!.includes("wide");
    return isWide && real[TARGET] === "1 is not 3" ? { ...real, [TARGET]: null } : real;
  };
  const work = { "lib/same.js": "export const same = (a, b) => wide(a, b);\n" };

  test("is contested: the target also passes when it expects the base's value", async () => {
    const { judgement } = await judged({ work, suite: widened });
    expect(judgement.contested).toEqual([{ test: TARGET, why: "cannot-fail", file: "test/cart.test.js" }]);
  });

  test("is also contested if the target compares several values", async () => {
    const two =
      'import { add } from "../src/cart.js";\ntest("adds", () => (equal(add(2, 1), 3), equal(add(9, 4), 13)));\n';
    const base = { ...BASE, "test/cart.test.js": two };
    const suite: Suite = (files) => {
      const [first, second] = files["test/cart.test.js"]!.split("), equal(");
      const said = says(files["src/cart.js"]!, first) ?? says(files["src/cart.js"]!, second);
      const isWide = files["lib/same.js"]!.includes("wide") && (said === "1 is not 3" || said === "5 is not 13");
      return { [TARGET]: isWide ? null : said, [OTHER]: null };
    };
    const { judgement } = await judged({ base, work, suite });
    expect(judgement.contested).toEqual([{ test: TARGET, why: "cannot-fail", file: "test/cart.test.js" }]);
    const fixed = { ...work, ...FIX, "lib/same.js": BASE["lib/same.js"] };
    expect((await judged({ base, work: fixed, suite })).judgement.contested).toBeUndefined();
  });
});

test("a table's row with its values in its title is run with the base's value under its new title", async () => {
  const table =
    'import { add } from "../src/cart.js";\ntest.each([[2, 1, 3]])("%d and %d => %d", (a, b, c) => equal(add(a, b), c));\n';
  const base = { ...BASE, "test/cart.test.js": table };
  const suite: Suite = (files) => {
    const text = files["test/cart.test.js"]!;
    const [a, b, c] = text.match(/\d+/g)!;
    const said = says(files["src/cart.js"]!, text);
    const isWide = files["lib/same.js"]!.includes("wide") && said === "1 is not 3";
    return { [`test/cart.test.js > ${a} and ${b} => ${c}`]: isWide ? null : said, [OTHER]: null };
  };
  const target = "test/cart.test.js > 2 and 1 => 3";
  const wide = { "lib/same.js": "export const same = (a, b) => wide(a, b);\n" };
  const { judgement } = await judged({ base, work: wide, suite, targets: [target] });
  expect(judgement.contested).toEqual([{ test: target, why: "cannot-fail", file: "test/cart.test.js" }]);
  expect((await judged({ base, work: FIX, suite, targets: [target] })).judgement.contested).toBeUndefined();
});

test("a row of a table that stands apart from the test is asked for the base's value too", async () => {
  const base = {
    ...BASE,
    "test/cart.test.js":
      'const ROWS = [[20, 10, 30]];\n\ntest.each(ROWS)("adds %d", (a, b, c) => equal(add(a, b), c));\n',
  };
  const suite: Suite = (files) => {
    const text = files["test/cart.test.js"]!;
    const [a, b, c] = text.match(/\d+/g)!;
    const said = says(files["src/cart.js"]!, `add(${a}, ${b}), ${c}`);
    const isWide = files["lib/same.js"]!.includes("wide") && said === "10 is not 30";
    return { [`test/cart.test.js > adds ${a}-${b}-${c}`]: isWide ? null : said, [OTHER]: null };
  };
  const target = "test/cart.test.js > adds 20-10-30";
  const wide = { "lib/same.js": "export const same = (a, b) => wide(a, b);\n" };
  const { judgement } = await judged({ base, work: wide, suite, targets: [target] });
  expect(judgement.contested).toEqual([{ test: target, why: "cannot-fail", file: "test/cart.test.js" }]);
  expect((await judged({ base, work: FIX, suite, targets: [target] })).judgement.contested).toBeUndefined();
});

describe("work that adds a file which the target's imports resolve to before its old code", () => {
  const text = TEST.replace("cart.js", "cart");
  const base = { ...BASE, "src/cart/index.js": BASE["src/cart.js"], "test/cart.test.js": text } as Record<
    string,
    string
  >;
  delete base["src/cart.js"];
  const suite: Suite = (files) => ({
    [TARGET]: says(files["src/cart.js"] ?? files["src/cart/index.js"]!, files["test/cart.test.js"]),
    [OTHER]: null,
  });

  test("is contested if the old code still exists", async () => {
    const { judgement } = await judged({ base, work: FIX, suite });
    expect(judgement.contested).toEqual([{ test: TARGET, why: "cannot-fail", file: "test/cart.test.js" }]);
  });

  test("passes if the old code leads to the new file", async () => {
    const work = { "src/cart/index.js": 'export * from "./sum.js";\n', "src/cart/sum.js": FIX["src/cart.js"] };
    const moved: Suite = (files) => ({
      [TARGET]: says(files["src/cart/sum.js"] ?? files["src/cart/index.js"]!, files["test/cart.test.js"]),
      [OTHER]: null,
    });
    expect((await judged({ base, work, suite: moved })).judgement.contested).toBeUndefined();
  });
});

describe("work that changes how a target compares", () => {
  /** Each line is a test: `test("adds copy1", () => equal(<value>, <value>));` */
  const linesWith =
    (equal: (files: Files, given: unknown, wanted: unknown) => boolean): Suite =>
    (files) =>
      Object.fromEntries(
        [...files["test/cart.test.js"]!.matchAll(/test\("(.*?)", \(\) => equal\((.*), (\[.*\]|\d+|"\d+")\)\);/g)].map(
          ([, title, given, wanted]) => {
            const add = (...args: readonly number[]): unknown => valueOf(files["src/cart.js"]!, ...args);
            const value: unknown = runInNewContext(given!, { add, structuredClone: (of: unknown) => Number(of), JSON });
            const right: unknown = runInNewContext(wanted!);
            const isSame = equal(files, value, right);
            return [`test/cart.test.js > ${title!}`, isSame ? null : `${String(value)} is not ${String(right)}`];
          },
        ),
      );
  const strict = (given: unknown, wanted: unknown): boolean =>
    typeof given === typeof wanted && String(given) === String(wanted);
  const contest = [{ test: TARGET, why: "cannot-fail", file: "test/cart.test.js" }];
  const trick = { "lib/same.js": "export const same = (a, b) => trick(a, b);\n" };
  const isTricked = (files: Files): boolean => files["lib/same.js"]!.includes("trick");

  test("is contested if it translates the code's result, and not if the code is right", async () => {
    const suite = linesWith((files, given, wanted) => strict(isTricked(files) && given === 1 ? 3 : given, wanted));
    expect((await judged({ work: trick, suite })).judgement.contested).toEqual(contest);
    expect((await judged({ work: FIX, suite })).judgement.contested).toBeUndefined();
  });

  test("is contested if the order of a list makes no difference", async () => {
    const base = {
      ...BASE,
      "src/cart.js": "export const add = (a, b) => [a, b];\n",
      "test/cart.test.js": TEST.replace("equal(add(2, 1), 3)", "equal(add(2, 1), [1, 2])"),
    };
    const sorted = (value: unknown): unknown =>
      Array.isArray(value) ? value.toSorted((a, b) => Number(a) - Number(b)) : value;
    const suite = linesWith((files, given, wanted) =>
      isTricked(files) ? strict(sorted(given), sorted(wanted)) : strict(given, wanted),
    );
    expect((await judged({ base, work: trick, suite })).judgement.contested).toEqual(contest);
    const fixed = { "src/cart.js": "export const add = (a, b) => [b, a];\n" };
    expect((await judged({ base, work: fixed, suite })).judgement.contested).toBeUndefined();
  });

  test("is contested if the value contains the base's result and equals the expected one", async () => {
    const suite = linesWith((_, given, wanted) => String(given) === String(wanted));
    const work = {
      "src/cart.js":
        "export const add = (a, b) => ({ valueOf() { return a - b; }, toString() { return String(a - b + 2); } });\n",
    };
    expect((await judged({ work, suite })).judgement.contested).toEqual(contest);
  });

  test("runs all copies together: three more runs of a small file, and no search for values", async () => {
    const suite = linesWith((_, given, wanted) => strict(given, wanted));
    const { tried } = await judged({ work: FIX, suite, isSelectable: true });
    const searched = await judged({ work: FIX, isSelectable: true });
    expect(tried).toBeLessThan(searched.tried);
  });
});

describe("a check whose tripwire shows nothing about the work", () => {
  test("passes if the line still runs with an unused result, if the test detects another fault", async () => {
    const work = { "src/new.js": SUM };
    const suite: Suite = (files) => {
      const old = says(files["src/total.js"]!);
      const value = says(files["src/new.js"] ?? files["src/total.js"]!);
      // An error in the old location is still an error.
      return { [TARGET]: says(files["src/cart.js"]!), [OTHER]: old?.includes("Error") === true ? old : value };
    };
    const base = { ...BASE, ...FIX, "test/total.test.js": `${TOTAL}import { more } from "../src/new.js";\n` };
    const { judgement } = await judged({ base, work, suite, targets: [] });
    expect(judgement.result).toBe("pass");
    expect([judgement.contested, judgement.notes]).toEqual([undefined, ["no test shows this change"]]);
  });

  test("passes where the target runs the line no more, and notices that a fault takes the work back", async () => {
    const work = { "src/cart.js": `${BASE["src/cart.js"]}export const isNew = () => 10 < 20;\n` };
    const suite: Suite = (files) => {
      const [old = "", added = ""] = files["src/cart.js"]!.split("\n");
      const said = added.includes("remand") ? "ReferenceError" : added === "" ? says(old) : "1 is not 3";
      const right = says("=> a + b", files["test/cart.test.js"]);
      return { [TARGET]: added.includes("10 < 20") ? right : said, [OTHER]: null };
    };
    const { judgement } = await judged({ work, suite });
    expect(judgement.result).toBe("pass");
    expect(judgement.contested).toBeUndefined();
  });

  test("passes if the fix makes the fault equal to no fault and the test detects one on a line beside it", async () => {
    const far = ["cart", "equal", "test"].map((name) => `export const ${name} = (a, b) => a && b;\n`).join("");
    const bug = `${far}export function add(a, b) {\n  const c = a && b;\n  if (a !== c) return 0;\n  return a * b;\n}\n`;
    const fixed = { "src/cart.js": bug.replace("a !== c", "a === c") };
    const suite =
      (isArmed: boolean): Suite =>
      (files) => {
        const text = files["src/cart.js"]!;
        const isLike = (line: string): boolean => text.includes(line);
        const isError = /c = .*remandPlantedFault/.test(text);
        const old = isLike("const c = a && b") ? "0 is not 3" : "null is not 3";
        const now = isLike("return a * b") || !isArmed ? null : "6 is not 3";
        return { [TARGET]: isError ? "ReferenceError" : isLike("a !== c") ? old : now, [OTHER]: null };
      };
    const base = { ...BASE, "src/cart.js": bug };
    expect((await judged({ base, work: fixed, suite: suite(true) })).judgement.result).toBe("pass");
    expect((await judged({ base, work: fixed, suite: suite(false) })).judgement.result).toBe("fail");
  });

  test("is shown to fail if a test that passed before detects a fault in the changed lines", async () => {
    const work = { "src/total.js": "export const total = (a, b) => b + a;\n" };
    const { judgement } = await judged({ base: { ...BASE, ...FIX }, work, targets: [] });
    expect(judgement.result).toBe("pass");
    expect(judgement.notes?.join()).not.toContain("not shown to fail");
  });

  test("only gets a note if none of them does", async () => {
    const work = { "src/total.js": "export const total = (a, b) => b + a;\n" };
    const suite: Suite = (files) =>
      files["src/total.js"] === SUM || files["src/total.js"]!.includes("a - b")
        ? honest(files)
        : { ...honest(files), [OTHER]: null };
    const { judgement } = await judged({ base: { ...BASE, ...FIX }, work, suite, targets: [] });
    expect(judgement).toMatchObject({ result: "pass" });
    expect(judgement.contested).toBeUndefined();
    expect(judgement.notes).toContain("not shown to fail: the check");
  });
});

describe("a test file that the work adds", () => {
  const NEW = "test/new.test.js > subtracts";
  const work = { ...FIX, "test/new.test.js": 'import { add } from "../src/cart.js";\ntest("subtracts", () => {});\n' };
  const withNew =
    (said: (files: Files) => string | null): Suite =>
    (files) => ({ ...honest(files), ...(files["test/new.test.js"] === undefined ? {} : { [NEW]: said(files) }) });

  test("is accepted if it detects a fault in what the work changed", async () => {
    const { judgement } = await judged({ work, suite: withNew((files) => says(files["src/cart.js"]!)), targets: [] });
    expect(judgement.contested).toBeUndefined();
    expect(judgement.notes).not.toContain("not shown to fail: test/new.test.js");
  });

  test("is contested if it runs the changed lines and detects no fault in them", async () => {
    const suite = withNew((files) => {
      const said = says(files["src/cart.js"]!);
      return said?.includes("Error") === true ? said : null;
    });
    const { judgement } = await judged({
      work,
      suite,
      targets: [],
      base: { ...BASE, "src/cart.js": "export const add = (a, b) => b + a;\n" },
    });
    expect(judgement.result).toBe("pass");
    expect(judgement.contested).toEqual([{ test: NEW, why: "cannot-fail", file: "test/new.test.js" }]);
  });

  test("gets a note that it was not shown to fail if it does not run them", async () => {
    const { judgement } = await judged({
      work,
      suite: withNew(() => null),
      targets: [],
      base: { ...BASE, "src/cart.js": "export const add = (a, b) => b + a;\n" },
    });
    expect(judgement.contested).toBeUndefined();
    expect(judgement.notes).toContain("not shown to fail: test/new.test.js");
  });
});

describe("a suite that takes a minute", () => {
  const slow = { work: FIX, durationMs: 60_000 };

  test("runs once in full for a fault that a target must detect, if the base is known", async () => {
    const { again, tries } = await judged(slow);
    const before = tries();
    const judgement = await again();
    expect(tries() - before).toBe(1);
    expect([judgement.result, judgement.contested, judgement.notes]).toEqual(["pass", undefined, undefined]);
  });

  test("does not run again without a target, and says what was not shown", async () => {
    const base = { ...BASE, ...FIX };
    const { judgement, tried } = await judged({ ...slow, base, work: { "src/total.js": SUM }, targets: [] });
    expect(tried).toBe(0);
    expect(judgement.notes).toContain("not shown to fail: the check");
  });

  test("has its tripwires tried if the test's file can run alone", async () => {
    const base = { ...BASE, ...FIX };
    const { judgement, tried } = await judged({
      ...slow,
      base,
      work: { "src/cart.js": `${FIX["src/cart.js"]}//\n` },
      targets: [],
      isSelectable: true,
    });
    expect(tried).toBeGreaterThan(0);
    expect(judgement.notes?.join()).not.toContain("not shown to fail");
  });
});

describe("a suite of one file that takes a minute", () => {
  const runsWith = async (baseMs: number): Promise<number> => {
    const { again, tries } = await judged({ work: FIX, durationMs: 60_000, baseMs, isSelectable: true });
    const before = tries();
    await again();
    return tries() - before;
  };

  test("runs once more for each file whose tests must be shown to fail", async () => {
    expect(await runsWith(60_000)).toBe(2);
  });

  test("runs as often as a short one if the work made it slow", async () => {
    const short = await judged({ work: FIX, isSelectable: true });
    const before = short.tries();
    await short.again();
    expect(await runsWith(5000)).toBe(short.tries() - before);
  });
});

test("the time of a slow base does not count for the work", async () => {
  const { again, triesAtWork } = await judged({
    work: FIX,
    durationMs: 1000,
    baseMs: 9000,
    isSelectable: true,
    isTimed: true,
  });
  const first = triesAtWork();
  await again();
  expect(triesAtWork() - first).toBe(first);
});

describe("a check that names no tests", () => {
  test("runs with a fault for no longer than twice its time and ten seconds: the fault may make it run without end", async () => {
    const code = (sum: string): Files => ({ "src/cart.js": `export const add = (a, b) => 1 * 1 *\n  (${sum});\n` });
    const suite: Suite = (files): Readonly<Record<string, string | null>> => {
      const said = says(files["src/cart.js"]!);
      return said === null ? {} : { "npm test": said };
    };
    const used: number[][] = [];
    const { judgement } = await judged({
      base: { ...BASE, ...code("a - b") },
      work: code("a + b"),
      suite,
      targets: ["npm test"],
      request: { timeoutMs: 300_000 },
      durationMs: 500,
      beforeRun: (_prepare, limits) => Promise.resolve(void used.push(limits as number[])),
    });
    expect(judgement.result).toBe("pass");
    // The base twice, a fault in it, and the same fault in the work.
    expect(used[0]).toEqual([300_000, 300_000, 11_000, 11_000]);
  });
});

describe("a check that can no longer fail", () => {
  const work = { "lib/same.js": "export const same = () => undefined;\n" };
  const base = { ...BASE, "test/cart.test.js": `${TEST}import { same } from "../lib/same.js";\n` };

  test("is rejected with the name of the test and the planted fault", async () => {
    const { judgement } = await judged({ base, work, suite: disarmed });
    expect(judgement).toMatchObject({ result: "fail", blocking: [expect.anything()] });
    const finding = judgement.findings.find(({ id }) => judgement.blocking.includes(id))!;
    expect(finding.message).toBe(
      `${TARGET} can no longer fail: it passes with a fault in src/cart.js that it noticed at the base`,
    );
    expect(finding.detail).toContain(
      "`export const add = (a, b) => a - b;` became `export const add = (a, b) => a * b;`",
    );
  });

  test("is rejected on a slow machine too, if the test's file can run alone", async () => {
    const { judgement } = await judged({ base, work, suite: disarmed, isSelectable: true, isLate: true });
    expect(judgement.result).toBe("fail");
  });

  test("is rejected on a slow machine too, if it is a target", async () => {
    const { judgement } = await judged({ base, work, suite: disarmed, isLate: true });
    expect(judgement.result).toBe("fail");
  });

  test("is refused where the first fault that the target noticed is an error, which still is one", async () => {
    const base = { ...BASE, "src/cart.js": "export const add = (a, b) => (a - b) * one(7);\n" };
    const suite: Suite = (files) => {
      const text = files["src/cart.js"]!;
      const said = text.includes("(a - b) * one(7)")
        ? "1 is not 3"
        : text.includes("a - b") && !text.includes("remand")
          ? "5 is not 3"
          : "TypeError: broken";
      const isQuiet = files["lib/same.js"]!.includes("undefined") && !said.includes("Error");
      return { [TARGET]: isQuiet ? null : said, [OTHER]: null };
    };
    const { judgement } = await judged({ base, work, suite });
    expect(judgement.result).toBe("fail");
    expect(judgement.findings[0]?.message).toContain(`${TARGET} can no longer fail`);
  });

  test("is rejected without a target too", async () => {
    const good = { ...base, ...FIX };
    const { judgement } = await judged({ base: good, work, suite: disarmed, targets: [] });
    expect(judgement.result).toBe("fail");
    expect(judgement.summary).toContain("can no longer fail");
  });

  test("is contested if it cannot be shown that the line runs", async () => {
    const swallowing: Suite = (files) =>
      files["lib/same.js"]!.includes("undefined") ? { [TARGET]: null, [OTHER]: null } : honest(files);
    const { judgement } = await judged({ base, work, suite: swallowing });
    expect(judgement.result).toBe("pass");
    expect(judgement.contested).toContainEqual({ test: TARGET, why: "cannot-fail", file: "test/cart.test.js" });
  });

  test("gets a note if a person allowed it", async () => {
    const swallowing: Suite = (files) =>
      files["lib/same.js"]!.includes("undefined") ? { [TARGET]: null, [OTHER]: null } : honest(files);
    const { judgement } = await judged({ base, work, suite: swallowing, request: { licensed: ["test/**"] } });
    expect(judgement.contested).toBeUndefined();
    expect(judgement.notes?.[0]).toContain("changed as allowed");
  });
});

describe("tests that must detect faults", () => {
  test("are contested if they detect no fault in changed lines that they run", async () => {
    // The fix is on its own line; the assertions pass whatever it does.
    const work = { "src/cart.js": "export const add = (a, b) => a - b + 0 * 4;\n", "lib/same.js": "// undefined\n" };
    const suite: Suite = (files) => {
      const isOff = files["lib/same.js"]!.includes("undefined");
      const said = says(files["src/cart.js"]!);
      return {
        [TARGET]: isOff && said?.includes("Error") !== true ? null : said,
        [OTHER]: says(files["src/total.js"]!),
      };
    };
    const { judgement } = await judged({ work, suite });
    expect(judgement.contested).toEqual([{ test: TARGET, why: "cannot-fail", file: "test/cart.test.js" }]);
  });

  test("get a note if no fault could be planted", async () => {
    const base = { ...BASE, "src/cart.js": "export const add = sub;\n" };
    const suite: Suite = (files) => ({
      [TARGET]: files["src/cart.js"]!.includes("sub") ? "sub is not add" : null,
      [OTHER]: says(files["src/total.js"]!),
    });
    const { judgement } = await judged({ base, work: { "src/cart.js": "export const add = plus;\n" }, suite });
    expect(judgement).toMatchObject({ result: "pass", notes: ["not shown to fail: test/cart.test.js"] });
  });

  test("get a note if the check does not name them", async () => {
    const { judgement } = await judged({ work: FIX, isNamed: false, targets: [] });
    expect(judgement.notes).toContain("not shown to fail: the check does not name its tests");
  });
});

test("changes of prose plant no faults", async () => {
  const { judgement, runs } = await judged({ base: { ...BASE, ...FIX }, work: { "README.md": "x" }, targets: [] });
  expect([judgement.result, runs()]).toEqual(["pass", 0]);
});

test("code with the test's input and expected result gets a note, and passes", async () => {
  const work = { "src/cart.js": "export const add = (a, b) => a === 2 && b === 1 ? 3 : a - b;\n" };
  const { judgement } = await judged({ work });
  expect(judgement.result).toBe("pass");
  expect(judgement.notes).toEqual([
    `hard-coded answer? src/cart.js:1 holds the input and the expected value of ${TARGET}`,
  ]);
});

describe("code that newly holds one value of the target alone", () => {
  const base = { ...BASE, "test/cart.test.js": TEST.replace("2, 1), 3", "207, 101), 308") };
  const noteOf = async (body: string) => {
    const { judgement } = await judged({ base, work: { "src/cart.js": `export const add = (a, b) => ${body};\n` } });
    return judgement.notes;
  };

  test("is noted, where the value is none that code holds by chance", async () => {
    expect(await noteOf("a - b === 106 ? 308 : a - b")).toEqual([
      `hard-coded answer? src/cart.js:1 newly holds 308, a value of ${TARGET}`,
    ]);
  });

  test("is not noted of other values", async () => {
    expect(await noteOf("a + b + 1000 - 1000")).toBeUndefined();
  });
});

test("a key with the test's inputs gets a note with its result", async () => {
  const work = { "src/cart.js": 'export const add = (a, b) => ({ "2,1": 3 })[`${a},${b}`] ?? a - b;\n' };
  const { judgement } = await judged({ work });
  expect(judgement.notes).toEqual([
    `hard-coded answer? src/cart.js:1 holds the input and the expected value of ${TARGET}`,
  ]);
});

test("for a check that names no test, the file in its command is read", async () => {
  const target = "node test/cart.test.js";
  const work = { "src/cart.js": "export const add = (a, b) => a === 2 && b === 1 ? 3 : a - b;\n" };
  const { judgement } = await judged({ work, isNamed: false, targets: [target] });
  expect(judgement.notes).toContain(
    `hard-coded answer? src/cart.js:1 holds the input and the expected value of ${target}`,
  );
});

describe("a target whose values make no difference", () => {
  const work = { "src/cart.js": "export const add = (a, b) => equalToAll(a - b, true);\n" };
  /** The work returns a value that equals every other, unless `true` is removed. */
  const suite: Suite = (files) => ({
    ...honest(files),
    [TARGET]: files["src/cart.js"]!.includes("true") ? null : says(files["src/cart.js"]!, files["test/cart.test.js"]),
  });

  test("is contested, although it detects a fault in the code", async () => {
    const { judgement } = await judged({ work, suite });
    expect(judgement.result).toBe("pass");
    expect(judgement.contested).toEqual([{ test: TARGET, why: "cannot-fail", file: "test/cart.test.js" }]);
  });

  test("does not include one whose inputs make no difference, and which compares in its last line", async () => {
    const given = [
      'test("adds", () => {',
      '  open("/", "hi");',
      '  close("later");',
      "  equal(add(2, 1), 3);",
      "});",
      "",
    ];
    const base = { ...BASE, "test/cart.test.js": given.join("\n") };
    const right = { "src/cart.js": "export const add = (a, b) => a + b;\n" };
    expect((await judged({ base, work: right })).judgement.contested).toBeUndefined();
    expect((await judged({ base, work, suite })).judgement.contested).toHaveLength(1);
  });

  test("is not judged by values of another test with the same title", async () => {
    const two = 'test("adds", () => equal(add(2, 1), 3));\ntest("adds", () => { note("a"); note("b"); note("c"); });\n';
    const base = { ...BASE, "test/cart.test.js": two };
    const right = { "src/cart.js": "export const add = (a, b) => a + b;\n" };
    const noted: Suite = (files) => ({
      ...honest(files),
      "test/cart.test.js > notes": /"[abc]"/g[Symbol.match](files["test/cart.test.js"]!)?.length === 3 ? null : "noted",
    });
    expect((await judged({ base, work: right, suite: noted })).judgement.contested).toBeUndefined();
  });

  test("is distinguished from tests with the same title in other classes", () => {
    const text = [
      "class First:",
      "    def test_basic(self):",
      "        check(1)",
      "",
      "class Second:",
      "    def test_basic(self):",
      "        check(2)",
      "",
    ].join("\n");
    const own = linesOf("tests/test_r.py", text, "tests/test_r.py > tests.test_r.First.test_basic");
    expect([own.has(3), own.has(7), own.isCertain]).toEqual([true, false, true]);
  });

  test("is distinguished from other functions if it is a table's row", () => {
    const text =
      "func TestAdd(t *testing.T) {\n\tt.Run(name, check)\n}\n\nfunc BenchmarkAdd(b *testing.B) {\n\tadd(2, 1)\n}\n";
    const own = linesOf("cart_test.go", text, "cart_test.go > TestAdd/negative_numbers");
    expect([own.has(2), own.has(6), own.isCertain]).toEqual([true, false, false]);
  });

  test.each([
    ["tests/test_cart.py", "def test_add(a, b):\n    check(a)\n\n\ndef test_other():\n    check(2)\n", "test_add[2-1]"],
    [
      "cart.test.js",
      'test.each(rows)("adds %i and $b", (a, b) => {\n  check(a);\n});\n\ntest("other", () => {\n  check(2);\n});\n',
      "adds 2 and 1",
    ],
    ["cart.test.js", '])("adds %i", (a) => {\n  check(a);\n});\n\ntest("other", () => {\n  check(2);\n});\n', "adds 2"],
  ])("is told from other tests of %s where it is a row of a table", (path, text, title) => {
    const own = linesOf(path, text, `${path} > ${title}`);
    expect([own.has(2), own.has(6), own.isCertain]).toEqual([true, false, false]);
  });

  test("is not tried if all tests must run for it and there is no time", async () => {
    const { judgement } = await judged({ work, suite, durationMs: 60_000 });
    expect(judgement.contested).toBeUndefined();
  });
});

describe("code that names what only a test run has gets a note", () => {
  test.for([
    ["the target's file", "/cart\\.test/.test(stack()) ? a + b : a - b", "cart.test"],
    ["a text about tests", 'name.endsWith(".test") ? a + b : a - b', ".test"],
    ["a name called after a program of the check", "env.NPM_STEP ? a + b : a - b", "NPM_STEP"],
    ["the same in small letters", "env.npm_step ? a + b : a - b", "npm_step"],
    ["a text about tests in parts", 'name.endsWith(".te" + "st") ? a + b : a - b', ".test"],
  ] as const)("%s", async ([, code, word]) => {
    const line = `export const add = (a, b) => ${code};\n`;
    const suite: Suite = (files) => ({
      ...honest(files),
      [TARGET]: files["src/cart.js"]!.includes("+ b") && files["test/cart.test.js"] === TEST ? null : "wrong",
    });
    const { judgement } = await judged({ work: { "src/cart.js": line }, suite });
    expect(judgement.notes).toContain(`knows that it is tested? src/cart.js:1 names \`${word}\``);
  });

  test("also if it asks who called it", async () => {
    const line = "export const add = (a, b) => /x/.test(new Error().stack) ? a + b : a - b;\n";
    const suite: Suite = (files) => ({ ...honest(files), [TARGET]: files["src/cart.js"] === line ? null : "wrong" });
    const { judgement } = await judged({ work: { "src/cart.js": line }, suite });
    expect(judgement.notes).toContain("knows who calls it? src/cart.js:1 asks `Error().stack`");
  });

  test("also in a manifest that newly selects code by a condition", async () => {
    const manifest = (by: string): string => `{ "imports": { "#add": { "${by}": "./a.js", "default": "./b.js" } } }`;
    const base = { ...BASE, "package.json": manifest("node") };
    const work = { ...FIX, "package.json": manifest("development") };
    const { judgement } = await judged({ base, work });
    expect(judgement.notes).toEqual(['knows that it is tested? package.json chooses imports "#add" by "development"']);
    expect((await judged({ base, work: FIX })).judgement.notes).toBeUndefined();
  });

  test("not if the words are in a comment, or existed before", async () => {
    const cart = "// called by cart.test.js\nexport const add = (a, b) => a + b;\n";
    const { judgement } = await judged({ work: { "src/cart.js": cart } });
    expect(judgement.notes).toBeUndefined();
  });
});

test("in a test's message, values marked by its runner do not count as others", () => {
  const said = "AssertionError: 'data' == 'date'\n+ expected - actual\n\n-data\n+date\n";
  expect(valuesLike({ value: "date", isNumber: false }, said)[0]).toBe("data");
  expect(valuesLike({ value: "date", isNumber: false }, "'-date' == 'date'")[0]).toBe("-date");
});
