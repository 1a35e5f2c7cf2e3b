import { RemandError } from "../core/events/error.ts";
import { editFrontMatter } from "../write/edits/front-matter-edit.ts";
import { type Checkout, EXIT, type ExitCode, type World } from "../app/command.ts";
import type { Probe } from "../app/host.ts";
import type { Preflight, PreflightPlan } from "../app/host-plans.ts";
import { userFile, machineLayer } from "../app/load-config.ts";

export const FORCE_HELP = "start even if the check cannot run here, or passes already";

/** Refuses to pay an agent for work that no check could verify. Lists all problems at once, each with its fix. */
export function assertChecksRun(problems: readonly Probe[]): void {
  const [first, ...others] = problems;
  if (first === undefined) return;
  const line = ({ name, detail }: Probe): string => `${name}: ${detail}`;
  const before = others.map((each) => `${line(each)}\n  ${each.fix}\n`).join("");
  throw new RemandError(
    "check-unusable",
    `no agent was started\n${before}${line(first)}`,
    `${first.fix} Or start all the same: --force.`,
  );
}

/**
 * Tests the check of a loop before an agent is paid: can it run, does it fail, and does it fail because a variable is
 * withheld? `go`: the loop may start. `again`: the settings have changed. Otherwise the exit code.
 */
export async function loopPreflight(
  world: World,
  plan: PreflightPlan,
  hasGoal: boolean,
): Promise<"go" | "again" | ExitCode> {
  const report = await withWaitingNote(world, "Running the checks once on the base", () =>
    world.host.preflight(world.cwd, plan),
  );
  if (report.variables.length > 0 && (await mayPass(world, report))) return "again";
  assertChecksRun(report.problems);
  if (!report.isGreen) return "go";
  if (!hasGoal) {
    world.out(`the check passes already (${report.summary}): nothing to do; --goal runs the agent all the same\n`);
    return EXIT.ok;
  }
  const fact = `the check passes already (${report.summary}), so it cannot show when the goal is reached`;
  if (world.ask === null)
    throw new RemandError(
      "check-unusable",
      fact,
      "Give a check that fails until then, such as a new test. Or run the agent all the same: --force",
    );
  return isYes(await world.ask(`remand: ${fact}. Run the agent all the same? [y/N] `)) ? "go" : EXIT.usage;
}

const isYes = (answer: string): boolean => /^y(es)?$/i.test(answer.trim());

/** Asks once. The answer is stored in the user's own configuration, where agents cannot write it. */
async function mayPass(world: World, { variables }: Preflight): Promise<boolean> {
  const file = userFile(world.env);
  if (world.ask === null || file === null) return false;
  const names = variables.join(", ");
  const question = `remand: the checks fail without ${names} and pass with ${variables.length === 1 ? "it" : "them"}. Pass ${variables.length === 1 ? "it" : "them"} to checks, set-up and agents from now on (kept in ${file})? [y/N] `;
  if (!isYes(await world.ask(question))) return false;
  await passVariables(world, file, variables);
  return true;
}

async function passVariables(world: Checkout, file: string, names: readonly string[]): Promise<void> {
  const value = (await machineLayer(world))?.value as { readonly env?: unknown } | undefined;
  const before = Array.isArray(value?.env) ? value.env.map(String) : [];
  const text = (await world.files.read(file)) ?? "";
  const whole = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  const edited = editFrontMatter(`---\n${whole}---\n`, { env: [...new Set([...before, ...names])] });
  await world.files.write(file, edited.slice("---\n".length, -"---\n".length));
}

/** Prints what a person is waiting for if it takes more than a moment, and repeats it: `Running … (12 s so far)`. */
async function withWaitingNote<T>(world: Pick<World, "err">, what: string, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const wait = (soFar: number, next: number): void => {
    timer = setTimeout(
      () => {
        world.err(`remand: ${what} (${next} s so far)\n`);
        wait(next, AT_SECONDS.find((each) => each > next) ?? next + 60);
      },
      1000 * (next - soFar),
    );
  };
  wait(0, AT_SECONDS[0]);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}

const AT_SECONDS = [3, 10, 30, 60] as const;
