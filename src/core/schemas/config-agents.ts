import { z } from "zod";
import { AGENT_CLIENT_NAMES } from "../stories/agent-client.ts";
import { count, setting } from "./config-values.ts";
import { line, word } from "./scalars.ts";

/** `agents.<role>`: the program that plays a role. */
export const agentConfigSchema = z.strictObject({
  use: setting(
    "The client that runs the agent: claude and codex by their own programs, acp for any agent that speaks the Agent Client Protocol, model for an API without tools (reviewers only), command for any command line, scripted for a file of recorded replies.",
    z.enum(AGENT_CLIENT_NAMES),
  ),
  model: setting(
    "The model to ask for, by the client's name for it. Without it, that of the role file, else the client's own choice.",
    line,
  ),
  command: setting(
    "command: the command line, which gets the prompt on its standard input. acp: the program that speaks the protocol. scripted: the file of replies. claude and codex: another path of the program.",
    line,
  ),
  args: setting("Further arguments for the client, after those of Remand.", z.array(line)),
  access: setting(
    "What a developer's client may do: `edit` changes files of the worktree and runs commands in the client's own sandbox; `full` runs every command without that sandbox.",
    z.enum(["edit", "full"]),
  ),
  file: setting("Path of the role file (front matter and prompt), where it is not `.claude/agents/<role>.md`.", line),
  stronger: setting(
    "Another model for work that keeps failing.",
    z.strictObject({
      model: line.describe("The model that takes over."),
      after: setting("Failures in one phase after which it takes over. 2 where this is left out.", count(1, 100)),
    }),
  ),
  freshAfter: setting(
    "Failures in one conversation after which the next attempt starts a new conversation. Without it, a conversation goes on.",
    count(1, 100),
  ),
  fallback: setting("The role that takes over when this role has no agent, or its agent is not installed.", word),
  env: setting(
    "Names of environment variables that this agent and its commands may see, besides the usual few. A name may end with `*`.",
    z.array(line),
  ),
});

const roleThat = (work: string) => setting(`Name of the role that ${work}.`, word);

/** `roles`: which role does what. */
export const rolesConfigSchema = z.strictObject({
  phase: setting(
    "The role that does the work of each phase.",
    z.strictObject({
      refine: roleThat("refines the story's text and criteria"),
      research: roleThat("looks up what the story needs to know"),
      plan: roleThat("writes the plan"),
      implement: roleThat("writes code and tests"),
    }),
  ),
  stage: setting(
    "The role that reviews each stage or perspective, by the stage's name. Without one, the critic does.",
    z.record(word, word),
  ),
  critic: roleThat("reviews the diff in the review gate"),
  auditor: roleThat("checks each acceptance criterion in the audit gate"),
  oracle: roleThat("says in the oracle gate whether the goal is reached"),
  remediation: roleThat("repairs the infrastructure when a gate is blocked"),
  healthCheck: roleThat("says whether the infrastructure works again"),
  adjudicator: roleThat("decides about a finding that the developer disputes"),
  ciIntegration: roleThat("fixes a CI run that failed by its configuration"),
});
