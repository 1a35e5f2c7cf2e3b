import { type CodeLocation, type OutputFailure, detailIn, firstFrame, shortMessage } from "./test-output-parts.ts";

/**
 * The error that ended a program before any test could fail: the last one in the output with a place in the project.
 * ```
 * TypeError: Cannot redefine property: isNew
 *     at Object.<anonymous> (/project/index.js:64:35)
 * ```
 * or
 * ```
 *   File "a.py", line 3, in <module>
 *     import missing
 * ModuleNotFoundError: No module named 'missing'
 * ```
 */
export function readUncaughtError(lines: readonly string[]): OutputFailure | null {
  for (let at = lines.length - 1; at >= 0; at--) {
    const error =
      /^\s{0,4}(?:Uncaught )?((?:[A-Za-z_]\w{0,60}[.:]{1,2}){0,4}[A-Z]\w{0,60}(?:Error|Exception)\b.*)$/.exec(
        lines[at]!,
      );
    if (error === null) continue;
    const frames = endOfFrames(lines, at + 1);
    const place = placeAbove(lines, at) ?? firstFrame(lines, at + 1, frames);
    if (place === null) continue;
    const { file, line } = place;
    const detail = detailIn(lines, at, frames);
    return { test: null, category: "crash", message: shortMessage(error[1]!), detail, file, line };
  }
  return null;
}

function endOfFrames(lines: readonly string[], from: number): number {
  let to = from;
  while (to < lines.length && /^\s+at /.test(lines[to]!)) to++;
  return to;
}

/** Python names the frames above the error, Node the line of a syntax error. */
function placeAbove(lines: readonly string[], below: number): CodeLocation | null {
  for (let at = below - 1; at >= Math.max(0, below - FAR); at--) {
    const python = /^\s+File "([^"]+)", line (\d{1,7})/.exec(lines[at]!);
    if (python !== null && !python[1]!.startsWith("<") && !python[1]!.includes("site-packages/"))
      return { file: python[1]!, line: Number(python[2]) };
    const node = /^(?:file:\/\/)?(\/\S+\.[cm]?[jt]sx?):(\d{1,7})$/.exec(lines[at]!);
    if (node !== null && !node[1]!.includes("/node_modules/")) return { file: node[1]!, line: Number(node[2]) };
  }
  return null;
}

const FAR = 8;
