import type { WorkStarter } from "../adapters/git/work-start.ts";
import type { Baseline, Gate } from "../ports/gate.ts";
import { sha256 } from "../stdx/sha256.ts";

interface DecidingHome {
  readonly start: Pick<WorkStarter, "now" | "notes">;
  /** The same checks with the user's own HOME. */
  readonly withRealHome: Gate;
  readonly commands: readonly string[];
}

/**
 * A base that is red with the HOME that checks get, and better with the user's own, is red because of us: the user's own
 * is used from then on, and that is said. It is tried once for the same commands and the same secrets left out.
 */
export function withDecidingHome(checks: Gate, { start, withRealHome, commands }: DecidingHome): Gate {
  if (checks.baseline === undefined) return checks;
  return {
    ...checks,
    async baseline(request, control) {
      const own = await checks.baseline!(request, control);
      const { leftOut } = await start.now();
      const { notes } = start;
      if (await notes.isReal()) return withNote(own);
      if (own.isGreen === true || leftOut.length === 0 || control.signal.aborted) return own;
      const note = sha256(JSON.stringify([commands, leftOut]));
      if (await notes.isSame(note)) return own;
      const real = await withRealHome.baseline!(request, control);
      if (control.signal.aborted) return own;
      if (!isBetter(real, own)) {
        await notes.add("same", note);
        return own;
      }
      await notes.add("real", note);
      return withNote(real);
    },
  };
}

const withNote = (seen: Baseline): Baseline =>
  seen.summary === undefined ? seen : { ...seen, summary: `${seen.summary}; with your own HOME` };

/** Fewer tests fail, and no other; or tests ran, or loaded, that did not before. */
function isBetter(real: Baseline, own: Baseline): boolean {
  const count = ({ failing, unusable = [] }: Baseline): number => failing.length + unusable.length;
  if (count(real) < count(own) && real.failing.every((name) => own.failing.includes(name))) return true;
  const [ran, ranBefore] = [real.run?.ranTests ?? [], own.run?.ranTests ?? []];
  const [lost, lostBefore] = [real.run?.notLoaded ?? [], own.run?.notLoaded ?? []];
  return ran.length > ranBefore.length || (ran.length === ranBefore.length && lost.length < lostBefore.length);
}
