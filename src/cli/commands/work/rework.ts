import { RemandError } from "../../../core/events/error.ts";
import type { Answer } from "../../../core/events/event.ts";
import { PHASES } from "../../../core/stories/story.ts";
import { type CliCommand, EXIT, type World } from "../../../app/command.ts";
import { withJournal, storyOf } from "../../../app/with-journal.ts";
import { personOf, wordOf } from "../../../app/option-values.ts";

interface Options {
  readonly phase?: string;
  readonly message?: string;
  readonly by?: string;
  readonly json?: boolean;
}

const EXAMPLES = `Examples:
  remand rework checkout-retry --message "the back-off must not be longer than a minute"
  remand rework checkout-retry --phase plan --message "plan it without a queue"

What runs for the story now ends first; then it goes back with your instructions in the brief. Accepted work goes back too,
and goes through the gates and delivery again.
`;

export const command: CliCommand = {
  name: "rework",
  register(command, world, done) {
    command
      .usage("<story> --message <text> [options]")
      .argument("<story>", "the story's id")
      .option("--message <text>", "what to do differently")
      .option("--phase <phase>", `where it goes back to: ${PHASES.join(", ")} (default: where it is)`)
      .option("--by <name>", "who says so (default: you)")
      .option("--json", "print a document of the schema remand.answer/1")
      .addHelpText("before", EXAMPLES)
      .action(async (story: string, options: Options) => {
        await rework(world, story, options);
        done(EXIT.ok);
      });
  },
};

async function rework(world: World, typed: string, options: Options): Promise<void> {
  const message = options.message?.trim() ?? "";
  if (message === "")
    throw new RemandError("usage", "--message is missing", 'Say what to do differently: --message "…"');
  const phase = options.phase === undefined ? undefined : wordOf("a phase", options.phase, PHASES);
  const by = await personOf(world, options.by);
  const { id, answer } = await withJournal(world, (view) => {
    const state = storyOf(view.state, typed);
    const { story, ending, policy } = state;
    // A person may want changes to accepted work. Abandoned work, and work that never had a policy, cannot be reworked.
    if (ending !== null && (ending.how !== "accepted" || policy === null))
      throw new RemandError("usage", `${story.id} is over: ${ending.how}`, "Write a new story for what is missing.");
    if (policy === null)
      throw new RemandError(
        "usage",
        `${story.id} has not started`,
        "Change its file instead: nothing has been done for it.",
      );
    if (phase !== undefined && !policy.phases.some((plan) => plan.phase === phase)) {
      throw new RemandError(
        "usage",
        `${story.id} has no phase ${phase}`,
        `It has ${policy.phases.map((plan) => plan.phase).join(", ")}.`,
      );
    }
    const said: Answer = {
      verb: "send-back",
      by,
      message,
      escalation: state.escalation?.id ?? null,
      ...(phase === undefined ? {} : { phase }),
    };
    return Promise.resolve({ id: story.id, answer: said });
  });
  await world.host.appendEvents(world.cwd, id, [{ type: "person.answered", answer }]);
  if (options.json === true)
    world.out(`${JSON.stringify({ schema: "remand.answer/1", story: id, answer }, null, 2)}\n`);
  else
    world.out(
      `${id} goes back${phase === undefined ? "" : ` to ${phase}`}. A running engine does that; otherwise remand run does.\n`,
    );
}
