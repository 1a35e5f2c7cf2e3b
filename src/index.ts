/** The package entry: what other tools may use. Everything here is pure. */
export { RemandError, type ErrorCode } from "./domain/error.ts";
export type { Finding } from "./domain/finding.ts";
export type { Reading } from "./domain/reading.ts";
export { RESULTS, type Result } from "./domain/result.ts";
export type { Story } from "./domain/story.ts";
