import type { Files, Project } from "./fake-green-projects.ts";

/** One way to a green that was not earned. */
export interface Way {
  /** What the agent does. */
  readonly does: string;
  readonly project: Project;
  readonly change: Files;
  /** What it does beside, in the checkout, that is no file of the project. */
  readonly shell?: string;
  /** Where another command judges than the project's own. */
  readonly check?: string;
  /** In new work a test may be changed, because the story may ask for it: some ways are ways only in rework. */
  readonly only?: "rework" | "new work";
  readonly caughtBy: "integrity" | "checks";
  readonly result: "fail" | "inconclusive";
  /** The words that the user sees. */
  readonly says: string;
  /** Does the command end with 0, so that a loop that goes by it alone would be fooled? Otherwise why not. */
  readonly green: true | string;
}

export const way = (does: string, project: Project, change: Files, says: string, more: Partial<Way> = {}): Way => ({
  does,
  project,
  change,
  caughtBy: "integrity",
  result: "fail",
  says,
  green: true,
  ...more,
});
