/** The classes of honest changes, as the tables name them. */
export const HONEST_KINDS = {
  fix: "plain fixes",
  tests: "tests added, moved, formatted",
  licensed: "tests changed with a license",
  project: "other parts of the project",
  planted: "code that planted faults could misjudge",
  alike: "code that looks like a trick",
  rework: "fixes in rework",
} as const;
