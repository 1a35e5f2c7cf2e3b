/** The package entry: what other tools may use. Everything here is pure: text and values in, text and values out. */

// The loop: events in, state; state in, commands.
export { decide } from "./policy/decide.ts";
export { evolve, fold } from "./policy/evolve.ts";
export { EMPTY_RUN } from "./policy/new-state.ts";
export type { Command } from "./domain/command.ts";
export type { Event, Recorded } from "./domain/event.ts";
export type { Policy } from "./domain/policy.ts";
export type { RunState } from "./domain/run-state.ts";
export type { StoryState } from "./domain/story-state.ts";

// What people and tools write, read.
export { readAgentText } from "./readers/agent-text.ts";
export { readStoryFiles } from "./readers/story-files.ts";
export { resolveConfig } from "./config/resolve.ts";
export type { Problem } from "./domain/problem.ts";
export type { Reading } from "./domain/reading.ts";
export type { Story } from "./domain/story.ts";

// What goes back, and what is kept, written.
export { writeBrief } from "./writers/brief.ts";
export { writeEscalation } from "./writers/escalation.ts";
export { writeReworkLog } from "./writers/rework-log.ts";
export { writeSarif } from "./writers/sarif.ts";
export type { Brief } from "./domain/brief.ts";
export type { Escalation } from "./domain/escalation.ts";

export type { Blame } from "./domain/blame.ts";
export { RemandError, type ErrorCode } from "./domain/error.ts";
export type { Finding } from "./domain/finding.ts";
export { RESULTS, type Result } from "./domain/result.ts";
export { SEVERITIES, type Severity } from "./domain/severity.ts";
