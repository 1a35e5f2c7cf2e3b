import type { Round } from "../../../src/views/story/story-document.ts";
import { countText } from "../../../src/stdx/plain-text.ts";

/** The newest attempts show whether the work converges. */
const MOST = 12;
const WIDTH = 160;
const HEIGHT = 28;

/**
 * The number of blocking findings after each attempt, as a line and as numbers: whether the work gets closer to a pass.
 */
export function Convergence({ rounds }: { readonly rounds: readonly Round[] }) {
  const shown = rounds.slice(-MOST);
  if (shown.length < 2) return null;
  const most = Math.max(1, ...shown.map(({ blocking }) => blocking));
  const points = shown.map(
    ({ blocking }, index) =>
      `${(index / (shown.length - 1)) * (WIDTH - 8) + 4},${HEIGHT - 4 - (blocking / most) * (HEIGHT - 8)}`,
  );
  const [first, last] = [shown[0]!, shown.at(-1)!];
  const [verdict, tone] =
    last.blocking < first.blocking
      ? ["converges", "line-good"]
      : last.blocking > first.blocking
        ? ["moves away", "line-bad"]
        : ["does not move", "line-flat"];
  const tests = shown.flatMap(({ failedTests }) => failedTests ?? []);
  return (
    <p class="convergence">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
        <polyline points={points.join(" ")} fill="none" class={tone} />
      </svg>
      <span>
        Blocking findings {shown.map(({ blocking }) => blocking).join(" → ")}
        {tests.some((count) => count > 0) && ` · failing tests ${tests.join(" → ")}`}
        <span class="muted">
          {" "}
          over {countText(shown.length, "attempt")}: it {verdict}
        </span>
      </span>
    </p>
  );
}
