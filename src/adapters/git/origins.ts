import type { Origin } from "../../core/blame/blame.ts";
import type { ChangedHunk } from "../../core/blame/change.ts";
import type { TreeId } from "../../core/events/ids.ts";
import { readTrailers } from "../../parse/code/git-output.ts";
import type { Git } from "./git.ts";
import { commitTree, TRAILERS } from "./refs.ts";
import { line, repositoryOpener } from "./repository.ts";

/** The state in which the lines stand, and how far back they are followed. */
export interface BlameRange {
  readonly base: string;
  /** The newest commit; what is not committed yet comes on top of it. */
  readonly commit: string;
  readonly tree: TreeId;
}

/**
 * Which commit brought each change in, and whose work that was, by the trailers that commits of attempts carry. `null`
 * for what is in no commit yet, and where git cannot tell. Nothing is written but an object that no name refers to.
 */
export async function originsOf(
  root: string,
  stretch: BlameRange,
  hunks: readonly ChangedHunk[],
): Promise<(Origin | null)[]> {
  const { git, top } = await repositoryOpener(root)();
  if (stretch.commit === "" || stretch.commit === stretch.base) return hunks.map(() => null);
  const isClean = line(await git.run(["rev-parse", "--verify", `${stretch.commit}^{tree}`])) === stretch.tree;
  const uncommitted = { tree: stretch.tree, parents: [stretch.commit], subject: "not committed yet", trailers: [] };
  const tip = isClean ? stretch.commit : await commitTree(git, uncommitted);
  const origins: (Origin | null)[] = [];
  for (const hunk of hunks) {
    const from = { git, top, base: stretch.base, tip };
    const commit = hunk.added.length > 0 ? await writerOf(from, hunk) : await removerOf(from, hunk);
    origins.push(commit === null || (commit === tip && !isClean) ? null : await originOf(git, commit));
  }
  return origins;
}

interface BlameContext {
  readonly git: Git;
  readonly top: string;
  readonly base: string;
  readonly tip: string;
}

/** The commit that most of the lines are from. */
async function writerOf({ git, top, base, tip }: BlameContext, hunk: ChangedHunk): Promise<string | null> {
  const range = `${hunk.start},${hunk.start + hunk.added.length - 1}`;
  const args = ["blame", "--no-textconv", "--porcelain", "-L", range, `${base}..${tip}`, "--", hunk.file];
  const { exitCode, stdout } = await git.ask(args, { cwd: top });
  return exitCode === 0 ? mostNamed(stdout) : null;
}

/** The commit after the last one in which the lines still stood. */
async function removerOf({ git, top, base, tip }: BlameContext, hunk: ChangedHunk): Promise<string | null> {
  if (hunk.removed.length === 0) return null;
  const range = `${hunk.oldStart},${hunk.oldEnd}`;
  const args = [
    "blame",
    "--no-textconv",
    "--porcelain",
    "--reverse",
    "-L",
    range,
    `${base}..${tip}`,
    "--",
    hunk.oldFile,
  ];
  const { exitCode, stdout } = await git.ask(args, { cwd: top });
  const last = exitCode === 0 ? (mostNamed(stdout, true) ?? base) : null;
  if (last === null) return null;
  const after = await git.ask(["rev-list", "--reverse", "--ancestry-path", `${last}..${tip}`], { cwd: top });
  return after.stdout.split("\n")[0] || null;
}

/** Of the commits that lines are from, the one with the most; those at the edge of what is looked at do not count. */
function mostNamed(porcelain: string, withEdge = false): string | null {
  const counts = new Map<string, number>();
  const edge = new Set<string>();
  let current = "";
  for (const text of porcelain.split("\n")) {
    const head = /^([0-9a-f]{40,64}) \d+ \d+/.exec(text)?.[1];
    if (head !== undefined) counts.set((current = head), (counts.get(head) ?? 0) + 1);
    else if (text === "boundary") edge.add(current);
  }
  const found = [...counts].filter(([commit]) => withEdge || !edge.has(commit)).sort((a, b) => b[1] - a[1]);
  return found[0]?.[0] ?? null;
}

async function originOf(git: Git, commit: string): Promise<Origin> {
  const message = await git.run(["show", "--no-patch", "--format=%B", commit]);
  const trailers = readTrailers(message);
  const attempt = Number(trailers.get(TRAILERS.attempt));
  const [story, role, phase] = [TRAILERS.story, TRAILERS.role, TRAILERS.phase].map((key) => trailers.get(key));
  return {
    commit,
    subject: message.split("\n")[0] ?? "",
    ...(story === undefined ? {} : { story }),
    ...(Number.isSafeInteger(attempt) && attempt > 0 ? { attempt } : {}),
    ...(role === undefined ? {} : { role }),
    ...(phase === undefined ? {} : { phase }),
  };
}
