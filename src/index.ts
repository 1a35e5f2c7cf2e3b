/**
 * The package entry: what other tools may use. Importing it does nothing and loads no library: the functions that need
 * one load it when they are called.
 */

// What the commands do.
export { brief, config, gate, loop, parse, run, stories } from "./compose/library.ts";
export type { GateOptions, GateResult, LoopOptions, RunOptions, RunResult, StoryResult } from "./compose/library.ts";
export type { ResolvedConfig } from "./config/resolve.ts";
export type { Judgement } from "./domain/gate.ts";
export type { GateReport } from "./domain/gate-report.ts";
export type { Problem } from "./domain/problem.ts";
export type { Reading } from "./domain/reading.ts";
export type { Story } from "./domain/story.ts";
export type { StoriesReading } from "./readers/story-files.ts";
export type { BriefInput } from "./schemas/brief.ts";
export type { WrittenBrief } from "./writers/brief.ts";

// Agents of your own, and whoever looks on.
export type { Agent, AgentControl, AgentError, AgentEvent, AgentRequest, AgentResult } from "./ports/agent.ts";
export type { Stored } from "./ports/journal.ts";
export type { Watcher } from "./ports/watcher.ts";

// The rules by themselves, pure: events in, state; state in, commands.
export { decide } from "./policy/decide.ts";
export { evolve, fold } from "./policy/evolve.ts";
export { EMPTY_RUN } from "./policy/new-state.ts";
export type { Command } from "./domain/command.ts";
export type { Event, Recorded } from "./domain/event.ts";
export type { Policy } from "./domain/policy.ts";
export type { RunState } from "./domain/run-state.ts";
export type { StoryState } from "./domain/story-state.ts";

// What goes back, and what is kept, written.
export { writeEscalation } from "./writers/escalation.ts";
export { writeJunit } from "./writers/junit.ts";
export { writeReworkLog } from "./writers/rework-log.ts";
export { writeSarif } from "./writers/sarif.ts";
export type { Blame } from "./domain/blame.ts";
export type { Brief } from "./domain/brief.ts";
export type { Escalation } from "./domain/escalation.ts";
export type { Finding } from "./domain/finding.ts";

export { RemandError, type ErrorCode } from "./domain/error.ts";
export { RESULTS, type Result } from "./domain/result.ts";
export { SEVERITIES, type Severity } from "./domain/severity.ts";
