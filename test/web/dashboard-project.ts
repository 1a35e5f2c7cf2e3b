import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DEMO_FILES } from "../../src/cli/demo-files.ts";
import type { ScriptedAttempt, ScriptPart } from "../../src/core/schemas/agent-script.ts";
import { makeRepository, type TestRepository } from "../kit/git-repository.ts";

/** Relative to the repository's root, where tests and scripts are started. */
const MAIN = resolve("dist/main.js");

const story = (title: string, body: string, more = ""): string => `---\ntitle: ${title}\n${more}---\n\n${body}\n`;
const ready = (id: string, words: string, more: ScriptedAttempt): ScriptedAttempt => ({
  say: `${words}\n\nREADY_FOR_REVIEW: ${id}\n`,
  ...more,
});
const failed = (id: string, finding: string, fix: string): ScriptedAttempt => ({
  say: `REVIEW_FAILED: ${id}\n\nIssues Found:\n- ${finding}\n\nRequired Fixes:\n- ${fix}\n\nPriority: HIGH\n`,
  cost: 0.03,
});
const passed = (id: string): ScriptedAttempt => ({
  say: `REVIEW_PASSED: ${id}\n\nSummary: it does what was asked\n`,
  cost: 0.03,
});
const audited = (id: string): ScriptedAttempt => ({
  say: `AUDIT_PASSED: ${id}\n\nVerification Results:\n- AC1: VERIFIED - it was run\n\nSummary: it holds\n`,
  cost: 0.02,
});
const playing = (role: string, id: string, ...attempts: ScriptedAttempt[]): ScriptPart => ({
  match: { role, story: id },
  attempts,
});

const EXPORT = `/** Invoices as lines of CSV. */
export function toCsv(invoices) {
  return invoices.map((each) => [each.id, each.name, each.total].join(",")).join("\\n");
}
`;

/** A reviewer who always objects: the story ends at a person, and continues when that person answers. */
const BILLING: readonly ScriptPart[] = [
  playing(
    "developer",
    "billing-export",
    ready("billing-export", "Wrote the export.", { edit: { "src/export.js": EXPORT }, cost: 0.21 }),
    ready("billing-export", "Quoted the names.", {
      edit: { "src/export.js": EXPORT.replace("each.name,", '`"${each.name}"`,') },
      cost: 0.18,
    }),
    ready("billing-export", "Escaped the quotes in them.", {
      edit: { "src/export.js": EXPORT.replace("each.name,", "JSON.stringify(each.name),") },
      cost: 0.14,
    }),
    ready("billing-export", "Wrote the totals with a point, as the importer wants them.", {
      edit: { "src/export.js": EXPORT.replace("each.total", "each.total.toFixed(2)") },
      cost: 0.11,
    }),
  ),
  playing(
    "critic",
    "billing-export",
    failed("billing-export", "src/export.js:3: a comma in a name breaks the line", "quote the names"),
    failed("billing-export", "src/export.js:3: a quote in a name breaks the line", "double the quotes"),
    failed("billing-export", "src/export.js:3: which separator does the importer want for decimals?", "ask somebody"),
    passed("billing-export"),
  ),
  playing("auditor", "billing-export", audited("billing-export")),
];

const GREETING = "export const greeting = (name) => `Hello, ${name}.`;\n";

const EASY: readonly ScriptPart[] = [
  playing(
    "developer",
    "greet-by-name",
    ready("greet-by-name", "It greets.", { edit: { "src/greet.js": GREETING }, cost: 0.06 }),
  ),
  playing("critic", "greet-by-name", passed("greet-by-name")),
  playing("auditor", "greet-by-name", audited("greet-by-name")),
];

/** Text of an attacker who wants a browser to execute it. */
export const HOSTILE = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
const HOSTILE_FILE = "src/<img src=x onerror=alert(1)>.js";

/** A story whose every text is an attack, and whose reviewer never accepts it. */
export const hostileStory: Readonly<Record<string, string>> = {
  "stories/hostile.md": story(
    `'${HOSTILE.replaceAll("'", "''")}'`,
    `${HOSTILE}\n\n[click](javascript:alert(1)) \u001b[31mred\u001b[0m\n\n- [ ] ${HOSTILE}`,
  ),
};
export const hostileParts: readonly ScriptPart[] = [
  playing(
    "developer",
    "hostile",
    ready("hostile", HOSTILE, { edit: { [HOSTILE_FILE]: `// ${HOSTILE}\n` }, cost: 0.01 }),
    ready("hostile", HOSTILE, { append: { [HOSTILE_FILE]: `// 2\n` }, cost: 0.01 }),
    ready("hostile", HOSTILE, { append: { [HOSTILE_FILE]: `// 3\n` }, cost: 0.01 }),
  ),
  playing("critic", "hostile", failed("hostile", `src/greet.js:1: ${HOSTILE}`, HOSTILE)),
  playing("auditor", "hostile", audited("hostile")),
];

/** The reviewer is wrong and the developer sees nothing to change, so a person is asked. */
export const disputedStory: Readonly<Record<string, string>> = {
  "stories/count-words.md": story("Count the words", "## Acceptance criteria\n\n- [ ] an empty text has none"),
};
const COUNT = 'export const words = (text) => text.split(" ").filter((word) => word !== "").length;\n';
export const disputedParts: readonly ScriptPart[] = [
  playing(
    "developer",
    "count-words",
    ready("count-words", "It counts.", { edit: { "src/words.js": COUNT }, cost: 0.05 }),
    ready("count-words", "An empty text has no words already.", { cost: 0.02 }),
  ),
  playing(
    "critic",
    "count-words",
    failed("count-words", "src/words.js:1: an empty text counts as one word", "return 0 for an empty text"),
    passed("count-words"),
  ),
  playing("adjudicator", "count-words", {
    say: "REVIEW_PASSED: count-words\n\nSummary: the filter drops the empty word\n",
    cost: 0.01,
  }),
  playing("auditor", "count-words", audited("count-words")),
];

/** A story whose developer takes longer than any test waits. */
export const slowStory = story("Think about it", "For long.");
export const slowParts: readonly ScriptPart[] = [
  playing("developer", "think-long", ready("think-long", "Thought.", { delay: "20m", cost: 0.01 })),
];

/** A story whose agent crashes as often as it may, and works after that. */
export const crashingStory = story("Start after all", "It will.");
export const crashingParts: readonly ScriptPart[] = [
  playing(
    "developer",
    "start-late",
    { exit: 1, say: "" },
    { exit: 1, say: "" },
    { exit: 1, say: "" },
    ready("start-late", "Started.", { edit: { "src/late.js": "export const late = true;\n" }, cost: 0.01 }),
  ),
  playing("critic", "start-late", passed("start-late")),
  playing("auditor", "start-late", audited("start-late")),
];

/** Each costs more than a story may: two questions with one cause, and a third that comes later. */
export const costlyStories = (...ids: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(ids.map((id) => [`stories/${id}.md`, story(`Pay for ${id}`, "It costs.")]));
export const costlyParts = (...ids: readonly string[]): readonly ScriptPart[] =>
  ids.map((id) =>
    playing("developer", id, {
      say: `Too dear.\n\nREADY_FOR_REVIEW: ${id}\n`,
      edit: { [`src/${id}.js`]: "" },
      cost: 3,
    }),
  );

const demoScript = (): string => DEMO_FILES["agent-script.yaml"]!;

/** Files of a project with stories that end in all possible ways, played by scripted agents. */
export function projectFiles(more: Readonly<Record<string, string>> = {}, parts: readonly ScriptPart[] = []) {
  const use = (file: string): object => ({ use: "scripted", command: file });
  // The demo's script plays all roles that the other script does not.
  const own = JSON.stringify({ version: 1, parts: [...parts, ...BILLING, ...EASY] }, null, 2);
  const joined = `${demoScript().trimEnd()}\n`.replace(/^parts:$/m, `parts:\n${asYamlItems(own)}`);
  return {
    ...DEMO_FILES,
    "agent-script.yaml": joined,
    "remand.yaml": `version: 1\npreset: critic-audit\nagents: ${JSON.stringify({
      developer: use("agent-script.yaml"),
      critic: use("agent-script.yaml"),
      auditor: use("agent-script.yaml"),
      adjudicator: use("agent-script.yaml"),
    })}\ngates: { checks: { commands: [node --test] } }\nlimits: { costUsd: 2 }\n`,
    "stories/billing-export.md": story(
      "Export the invoices as CSV",
      "The importer of the accountants reads CSV.\n\n## Acceptance criteria\n\n- [ ] names with commas survive",
    ),
    "stories/greet-by-name.md": story("Greet people by their name", "## Acceptance criteria\n\n- [ ] it says the name"),
    "stories/totals-page.md": story(
      "Show the totals of the export",
      "Needs the export.",
      "depends_on: [billing-export]\n",
    ),
    "stories/old-idea.md": story("Remember the last filter", "Some day.", "status: backlog\n"),
    ...more,
  };
}

/** JSON is YAML: each part becomes one item of the list. */
const asYamlItems = (script: string): string =>
  (JSON.parse(script) as { parts: object[] }).parts.map((part) => `  - ${JSON.stringify(part)}`).join("\n");

export interface ServedAddress {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  /** Ends the server, like Ctrl-C. */
  stop(): Promise<void>;
}

export interface DashboardProject {
  readonly repository: TestRepository;
  /** Runs `remand run` to its end. */
  run(): Promise<number | null>;
  /** Starts `remand run` in the background. */
  start(...args: string[]): ChildProcess;
  /** Starts `remand serve`; returns its address. */
  serve(...args: string[]): Promise<ServedAddress>;
  /** Ends an engine that the dashboard has started. */
  endEngine(): Promise<void>;
  clear(): Promise<void>;
}

async function endEngine(root: string): Promise<void> {
  const note = `${root}/.remand/journal.db.owner`;
  if (!existsSync(note)) return;
  const { pid } = JSON.parse(readFileSync(note, "utf8")) as { pid: number };
  process.kill(pid, "SIGINT");
  for (let tries = 0; tries < 200 && existsSync(note); tries++) await sleep(50);
  // The engine closes its last files after it has removed the note.
  await sleep(300);
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGINT");
  await once(child, "exit");
}

export function dashboardProject(files: Readonly<Record<string, string>> = projectFiles()): DashboardProject {
  const repository = makeRepository(files);
  const started: ChildProcess[] = [];
  const start = (...args: string[]): ChildProcess => {
    const env = { ...repository.env, USER: "ada", NO_COLOR: "1" };
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: repository.root,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    started.push(child);
    return child;
  };
  return {
    repository,
    start,
    run: async () => {
      const child = start("run", "--reporter", "minimal");
      child.stdout?.resume();
      child.stderr?.resume();
      const [code] = (await once(child, "exit")) as [number | null];
      return code;
    },
    serve: async (...args) => {
      const child = start("serve", "--port", "0", "--json", ...args);
      let text = "";
      let trouble = "";
      child.stderr?.on("data", (data) => (trouble += String(data)));
      for await (const data of child.stdout ?? []) {
        text += String(data);
        if (text.trimEnd().endsWith("}"))
          return { ...(JSON.parse(text) as Omit<ServedAddress, "stop">), stop: () => endChild(child) };
      }
      throw new Error(`remand serve ended: ${trouble}`);
    },
    endEngine: () => endEngine(repository.root),
    clear: async () => {
      for (const child of started) await endChild(child);
      await endEngine(repository.root);
      repository.clear();
    },
  };
}
