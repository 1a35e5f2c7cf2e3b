import type { Trial, TrialRun } from "../../ports/experiment-runner.ts";
import { type EnvironmentIn, checkEnvironment, environmentIn } from "../../adapters/process/environment.ts";
import { ownRedactor } from "../../adapters/process/own-secrets.ts";
import { runProcess } from "../../adapters/process/run-process.ts";
import { textOutside } from "../../adapters/process/mounted-folder.ts";
import { reportedTests } from "../../parse/tests/test-names.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import { type NameReports, openNameReports } from "./name-reports.ts";

/**
 * Tries a tree by running a command with the same environment every time. Test runners report every test by name, as in
 * a gate: whether a test passed is read from the report, not concluded from missing output.
 */
export function createCommandTrial(env: EnvironmentIn, sandbox: Sandbox): Trial {
  return {
    async run({ command, path, timeoutMs, isBare = false, counted }, { signal }) {
      const same = checkEnvironment(await environmentIn(env, path));
      const naming = isBare ? null : await openNameReports(same, path, counted);
      const ended = await runProcess(
        {
          command,
          cwd: path,
          env: naming?.env ?? same,
          timeoutMs,
          maxOutputBytes: MOST_BYTES,
          sandbox,
          writes: naming === null ? [] : [naming.folder],
        },
        { signal },
      );
      return {
        passed: ended.status === "exited" && ended.exitCode === 0,
        timedOut: ended.status !== "exited",
        output: ownRedactor().text(textOutside(ended.output, path)),
        tookMs: ended.durationMs,
        ...(naming === null ? {} : await testsIn(naming)),
      };
    },
  };
}

/** Reads the tests' results; none if a runner did not finish. */
async function testsIn(naming: NameReports): Promise<Pick<TrialRun, "tests" | "coverage">> {
  const { reports, folders, coverage } = await naming.read();
  const counts = coverage.length === 0 ? {} : { coverage };
  if (reports.length === 0 || reports.some(({ isComplete }) => !isComplete)) return counts;
  return { ...counts, tests: reportedTests(reports, { check: "", folders }) };
}

const MOST_BYTES = 4_000_000;
