import type { CliCommand } from "../app/command.ts";

/** Groups of commands, in the order of the help. */
export const COMMAND_GROUPS = ["Work", "Look", "Check without an engine", "Record", "Set up"] as const;
type CommandGroup = (typeof COMMAND_GROUPS)[number];

/** One command of the help and where it is implemented. Its file and the libraries it needs are loaded when it runs. */
export interface CommandEntry {
  readonly name: string;
  /** The heading under which the help lists the command. */
  readonly group: CommandGroup;
  readonly summary: string;
  /** Exit code 2 has a meaning of its own for the caller of this command, so wrong usage exits with 1. */
  readonly hasNoUsageCode?: true;
  /** The command reads or writes a journal, so it takes `--db`. */
  readonly looks?: true;
  /** The command speaks for a person, so it takes `--token-file`. */
  readonly speaks?: true;
  load(): Promise<{ readonly command: CliCommand }>;
}

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "loop",
    group: "Work",
    summary: "run an agent on a goal, check the work, and send it back until the check passes",
    speaks: true,
    load: () => import("./commands/work/loop.ts"),
  },
  {
    name: "init",
    group: "Set up",
    summary: "write a remand.yaml and a sample story",
    load: () => import("./commands/set-up/init.ts"),
  },
  {
    name: "import",
    group: "Set up",
    summary: "import the stories and settings of another tool (ai-sdlc)",
    load: () => import("./commands/set-up/import.ts"),
  },
  {
    name: "run",
    group: "Work",
    summary: "work until every story is settled or waits for a person",
    speaks: true,
    load: () => import("./commands/work/run.ts"),
  },
  {
    name: "worker",
    group: "Work",
    summary: "start a worker of a fleet: many machines, one journal in PostgreSQL",
    load: () => import("./commands/serve/worker.ts"),
  },
  {
    name: "stories",
    group: "Look",
    summary: "list the stories, and the problems in their files",
    load: () => import("./commands/read/stories.ts"),
  },
  {
    name: "status",
    group: "Look",
    summary: "show where each story is, who must act, and what was spent",
    looks: true,
    load: () => import("./commands/read/status.ts"),
  },
  {
    name: "top",
    group: "Look",
    summary: "watch the stories live on the whole screen; answer, read logs and diffs, and pause by key",
    speaks: true,
    looks: true,
    load: () => import("./commands/read/top.ts"),
  },
  {
    name: "show",
    group: "Look",
    summary: "show a story's history: attempts, gates, findings, decisions, next step",
    looks: true,
    load: () => import("./commands/read/show.ts"),
  },
  {
    name: "report",
    group: "Look",
    summary: "write the whole run into one HTML file",
    looks: true,
    load: () => import("./commands/read/report.ts"),
  },
  {
    name: "logs",
    group: "Look",
    summary: "print what agents and checks print, as it happens",
    looks: true,
    load: () => import("./commands/read/logs.ts"),
  },
  {
    name: "diff",
    group: "Look",
    summary: "show what a story, or one of its attempts, has changed",
    looks: true,
    load: () => import("./commands/read/diff.ts"),
  },
  {
    name: "brief",
    group: "Look",
    summary: "print the brief that an agent got or will get",
    looks: true,
    load: () => import("./commands/work/brief.ts"),
  },
  {
    name: "rework",
    group: "Work",
    summary: "send a story's work back at any time, with your instructions",
    speaks: true,
    looks: true,
    load: () => import("./commands/work/rework.ts"),
  },
  {
    name: "gate",
    group: "Check without an engine",
    summary: "run the gates on the files as they are, or on a commit, without an agent: for CI and before a push",
    load: () => import("./commands/work/gate.ts"),
  },
  {
    name: "blame",
    group: "Check without an engine",
    summary: "find the change that broke a check, and prove it by running",
    load: () => import("./commands/work/blame.ts"),
  },
  {
    name: "parse",
    group: "Check without an engine",
    summary: "read the signal or verdict in an agent's text",
    load: () => import("./commands/read/parse.ts"),
  },
  {
    name: "inbox",
    group: "Look",
    summary: "list open questions, with the possible answers and their effects",
    looks: true,
    load: () => import("./commands/read/inbox.ts"),
  },
  {
    name: "answer",
    group: "Work",
    summary: "answer a question, or decide about a story",
    speaks: true,
    looks: true,
    load: () => import("./commands/work/answer.ts"),
  },
  {
    name: "token",
    group: "Set up",
    summary: "create the token that lets a script answer for you",
    speaks: true,
    load: () => import("./commands/set-up/token.ts"),
  },
  {
    name: "hide",
    group: "Set up",
    summary: "hide tests from agents: copy files of the project for hidden checks",
    speaks: true,
    load: () => import("./commands/set-up/hide.ts"),
  },
  {
    name: "key",
    group: "Record",
    summary: "show or replace the key that signs your receipts",
    speaks: true,
    load: () => import("./commands/set-up/key.ts"),
  },
  {
    name: "serve",
    group: "Look",
    summary: "open the dashboard in a browser: board, stories, diffs with blame, inbox, cost",
    speaks: true,
    looks: true,
    load: () => import("./commands/serve/serve.ts"),
  },
  {
    name: "flakes",
    group: "Look",
    summary: "list flaky tests: those that passed and failed on the same files",
    looks: true,
    load: () => import("./commands/read/flakes.ts"),
  },
  {
    name: "cost",
    group: "Look",
    summary: "show what was spent, by story, agent, gate, location or cause",
    looks: true,
    load: () => import("./commands/read/cost.ts"),
  },
  {
    name: "evidence",
    group: "Record",
    summary: "print the stored output of a gate or an agent, by its id",
    looks: true,
    load: () => import("./commands/read/evidence.ts"),
  },
  {
    name: "log",
    group: "Record",
    summary: "print the journal",
    looks: true,
    load: () => import("./commands/read/log.ts"),
  },
  {
    name: "verify",
    group: "Record",
    summary: "check the record: journal, evidence and receipts here, or the receipts of commits anywhere",
    looks: true,
    load: () => import("./commands/read/verify.ts"),
  },
  {
    name: "trail",
    group: "Record",
    summary: "check the exported trail against the journal, or rewrite it",
    looks: true,
    load: () => import("./commands/read/trail.ts"),
  },
  {
    name: "migrate",
    group: "Set up",
    summary: "set up the database of a fleet with its roles, and move this checkout's journal there",
    load: () => import("./commands/serve/migrate.ts"),
  },
  {
    name: "stop",
    group: "Work",
    summary: "pause stories: end their running work and start nothing new",
    speaks: true,
    looks: true,
    load: () => import("./commands/work/stop.ts"),
  },
  {
    name: "resume",
    group: "Work",
    summary: "resume paused stories",
    speaks: true,
    looks: true,
    load: async () => ({ command: (await import("./commands/work/stop.ts")).resumeCommand }),
  },
  {
    name: "hook",
    group: "Check without an engine",
    summary: "answer a hook of an agent's client: may the agent stop?",
    hasNoUsageCode: true,
    load: () => import("./commands/serve/hook.ts"),
  },
  {
    name: "mcp",
    group: "Check without an engine",
    summary: "serve Remand's tools to agents over MCP, on standard input and output",
    load: () => import("./commands/serve/mcp.ts"),
  },
  {
    name: "doctor",
    group: "Set up",
    summary: "check git, Node, config, stories, journal and agents, and name the fix for each problem",
    looks: true,
    load: () => import("./commands/set-up/doctor.ts"),
  },
  {
    name: "config",
    group: "Set up",
    summary: "show the effective configuration, and where each value came from",
    load: () => import("./commands/set-up/config.ts"),
  },
  {
    name: "completion",
    group: "Set up",
    summary: "print a script that completes commands, options and stories in your shell",
    load: () => import("./commands/set-up/completion.ts"),
  },
  {
    name: "rehearse",
    group: "Work",
    summary: "run a command with a scripted model instead of a provider: no key, no network, no cost",
    load: () => import("./commands/work/rehearse.ts"),
  },
  {
    name: "demo",
    group: "Work",
    summary: "see the loop work on a small project, with scripted agents",
    load: () => import("./commands/work/demo.ts"),
  },
];
