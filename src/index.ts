/**
 * The package entry: the API for other tools. Importing it has no side effects and loads no library: functions load
 * what they need when they are called.
 */

// The functions of the commands.
export { brief, config, gate, loop, parse, run, stories } from "./compose/library.ts";
export type { GateOptions, GateResult, LoopOptions, RunOptions, RunResult, StoryResult } from "./compose/library.ts";
export type { ResolvedConfig } from "./config/resolve.ts";
export type { Judgement } from "./core/gates/gate.ts";
export type { GateReport } from "./core/gates/gate-report.ts";
export type { Problem } from "./core/events/error.ts";
export type { Reading } from "./core/stories/reading.ts";
export type { Story } from "./core/stories/story.ts";
export type { StoriesReading } from "./parse/stories/story-files.ts";
export type { BriefInput } from "./core/schemas/brief.ts";
export type { WrittenBrief } from "./write/briefs/brief.ts";

// Types for agents of your own, and for watchers.
export type { Agent, AgentControl, AgentError, AgentEvent, AgentRequest, AgentResult } from "./ports/agent.ts";
export type { StoredEvent as Stored } from "./ports/journal.ts";
export type { Watcher } from "./ports/journal.ts";

// The pure rules: `fold` computes state from events, `decide` computes commands from state.
export { decide } from "./decide/decide.ts";
export { evolve, fold } from "./fold/fold-event.ts";
export { EMPTY_RUN } from "./fold/new-state.ts";
export type { Command } from "./core/stories/command.ts";
export type { Event, Recorded } from "./core/events/event.ts";
export type { Policy } from "./core/events/policy.ts";
export type { RunState } from "./core/stories/run-state.ts";
export type { StoryState } from "./core/stories/story-state.ts";

// Writers of briefs and reports.
export { writeEscalation } from "./write/reports/escalation.ts";
export { writeJunit } from "./write/reports/junit-and-sarif.ts";
export { writeReworkLog } from "./write/reports/rework-log.ts";
export { writeSarif } from "./write/reports/junit-and-sarif.ts";
export type { Blame } from "./core/blame/blame.ts";
export type { Brief } from "./core/stories/brief.ts";
export type { Escalation } from "./core/stories/escalation.ts";
export type { Finding } from "./core/gates/finding.ts";

export { RemandError, type ErrorCode } from "./core/events/error.ts";
export { RESULTS, type Result } from "./core/events/error.ts";
export { SEVERITIES, type Severity } from "./core/gates/finding.ts";
