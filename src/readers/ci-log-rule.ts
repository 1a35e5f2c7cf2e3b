import type { CiClass } from "../domain/gate.ts";

/**
 * What a line of a CI log tells about why the run failed. `weight` says how sure the line is by itself: 10 settles it
 * (nothing else can explain such a line), 3 only hints. Rules are looked at line by line, each counts once.
 *
 * What the classes mean: `test`, `lint` and `build` are caused by what is in the repository; `configuration` by how the
 * CI run is set up; `infrastructure` by neither.
 */
export interface CiRule {
  readonly class: CiClass;
  readonly weight: number;
  readonly pattern: RegExp;
  /** What it shows, for whoever asks why. */
  readonly shows: string;
  /** A line that takes it all back, wherever it stands: the last word of a tool that has tried again. */
  readonly unless?: RegExp;
}

export const rule = (ciClass: CiClass, weight: number, shows: string, pattern: RegExp): CiRule => ({
  class: ciClass,
  weight,
  pattern,
  shows,
});
