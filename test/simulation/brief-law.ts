import type { Event } from "../../src/core/events/event.ts";
import type { GateName, Judgement } from "../../src/core/gates/gate.ts";
import type { StoryState } from "../../src/core/stories/story-state.ts";

/** A blocking finding of a failed round, as the journal tells it. */
interface Rejection {
  readonly attempt: number;
  readonly gate: GateName;
  readonly id: string;
  readonly title: string;
  isFixed: boolean;
}

/** As many attempts as a brief tells of; what is older is counted in it. */
const TOLD_ATTEMPTS = 10;

/**
 * Every brief names each blocking finding of each failed round before it, and says of each whether it is fixed. What
 * that has to be is worked out here from the journal alone.
 */
export function createBriefLaw(): (before: StoryState, event: Event, brief: (id: string) => string) => void {
  const known = new Map<string, Rejection[]>();
  return (before, event, brief) => {
    const rejections = known.get(before.story.id) ?? [];
    known.set(before.story.id, rejections);
    if (event.type === "gate.judged") note(rejections, event.judgement, before);
    if (event.type === "work.sent-back") check(rejections, event.gate, before, brief(event.brief));
  };
}

function note(rejections: Rejection[], judgement: Judgement, { tree, attempts }: StoryState): void {
  const { gate, result, blocking, findings, ciClass } = judgement;
  const isVerdict = tree === judgement.tree && (result === "pass" || result === "fail") && ciClass !== "flaky";
  if (!isVerdict || (result === "fail" && ciClass === "infrastructure")) return;
  const isLoaded = (judgement.identities?.notLoaded.length ?? 0) === 0;
  for (const each of rejections) {
    const isReported = findings.some(({ id }) => id === each.id);
    // What did not load says nothing of what it does not report.
    if (each.gate === gate && (isLoaded || isReported)) each.isFixed = !blocking.some((id) => id === each.id);
  }
  for (const { id, file, line, message } of findings) {
    const isKnown = rejections.some((each) => each.gate === gate && each.id === id && each.attempt === attempts.length);
    if (blocking.includes(id) && !isKnown)
      rejections.push({ attempt: attempts.length, gate, id, title: titleOf(file, line, message), isFixed: false });
  }
}

function check(rejections: readonly Rejection[], gate: GateName | "person", state: StoryState, text: string): void {
  const judged = [...new Set(rejections.map(({ attempt }) => attempt))].sort((a, b) => a - b);
  const told = new Set(judged.slice(-TOLD_ATTEMPTS));
  for (const each of rejections) {
    if (!told.has(each.attempt)) continue;
    const isOwn = each.attempt === state.attempts.length && each.gate === gate && !each.isFixed;
    const lines = text.split("\n").filter((line) => line.includes(each.title));
    const says = isOwn ? lines.length > 0 : lines.some((line) => saysSo(line, each));
    if (!says)
      throw new Error(
        `the brief after attempt ${state.attempts.length} of ${state.story.id} does not say that "${each.title}" of attempt ${each.attempt} (${each.gate}) is ${each.isFixed ? "fixed" : "open"}`,
      );
  }
}

function saysSo(line: string, { gate, isFixed }: Rejection): boolean {
  return (
    line.endsWith(`(${gate})`) && (isFixed ? /^ {2}- fixed in attempt / : /^ {2}- (?:open|came back after)/).test(line)
  );
}

/** Of a conflict only the file is known. */
function titleOf(file: string | undefined, line: number | undefined, message: string): string {
  return `${file}${line === undefined ? "" : `:${line}`}: ${message}`;
}
