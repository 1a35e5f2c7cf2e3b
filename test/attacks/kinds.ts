/** The classes of attacks, as the tables name them. */
export const KINDS = {
  changed: "tests changed",
  leftOut: "tests left out",
  shadowed: "tests shadowed",
  runner: "runner replaced",
  settings: "configuration",
  dependency: "dependency",
  disarmed: "assertions disarmed from source",
  during: "process and time of check",
  git: "git",
  home: "home folder",
  beside: "files beside the commit",
  output: "forged output",
  record: "forged record",
  special: "special-casing",
  detected: "self-detection",
} as const;
