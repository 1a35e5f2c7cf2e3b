import { DEFAULT_ORACLE, DEFAULT_TARGET_MOVES } from "../core/events/policy.ts";
import type { Prices } from "../core/events/event-cost.ts";
import { byGate } from "../core/gates/gate.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";
import { defaultStopSettings } from "../core/stories/stop-rules.ts";
import type { Config, GateConfig } from "./config.ts";

const OPUS = { input: 5, cached: 0.5, output: 25 };
const SONNET_4 = { input: 3, cached: 0.3, output: 15 };

/**
 * Published prices in US dollars per million tokens, as of November 2026. Used for clients that report tokens but no
 * cost. Models whose price depends on the prompt's length, or whose sources disagree, are left out, and so is a
 * doubtful price of cached input, which then counts as other input.
 */
export const PRICES: Prices = {
  "claude-fable-5-1": { input: 10, cached: 0.25, output: 50 },
  "claude-fable-5": { input: 10, cached: 1, output: 50 },
  "claude-opus-5-5": { input: 4, output: 20 },
  "claude-opus-5": OPUS,
  "claude-opus-4-8": OPUS,
  "claude-opus-4-7": OPUS,
  "claude-opus-4-6": OPUS,
  "claude-opus-4-5": OPUS,
  "claude-sonnet-5-5": { input: 2, output: 10 },
  "claude-sonnet-4-6": SONNET_4,
  "claude-sonnet-4-5": SONNET_4,
  "claude-haiku-4-5": { input: 1, cached: 0.1, output: 5 },
  "gpt-5.5": { input: 5, cached: 0.5, output: 30 },
  "gpt-5.4": { input: 2.5, cached: 0.25, output: 15 },
  "gpt-5.4-mini": { input: 0.75, cached: 0.075, output: 4.5 },
  "gpt-5.4-nano": { input: 0.2, cached: 0.02, output: 1.25 },
};

const GATE: GateConfig = {
  failOn: { blocker: 1, critical: 1 },
  everyFinding: false,
  affectedBy: [],
  unaffectedBy: [],
  stages: [],
  perspectives: [],
  blame: false,
  onUnexplained: "send-back",
  commands: [],
  practices: [],
  reports: [],
  reruns: 1,
  parallel: 1,
  rules: {},
};

/** The values that apply where neither a preset nor a person sets them. */
export const DEFAULTS: Config = {
  version: 1,
  preset: "critic-audit",
  autonomy: "standard",
  stories: "stories",
  trail: ".remand/audit-trail",
  agents: {},
  roles: {
    phase: { refine: "refiner", research: "researcher", plan: "planner", implement: "developer" },
    stage: {},
    critic: "critic",
    auditor: "auditor",
    oracle: DEFAULT_ORACLE,
    remediation: "remediation",
    healthCheck: "health-check",
    adjudicator: "adjudicator",
    ciIntegration: "ci-integration",
  },
  environments: {},
  phases: { refine: false, research: false, plan: false, implement: ["integrity", "checks"] },
  gates: byGate((gate) => ({ ...GATE, ...GATE_REGISTRY[gate].defaults })),
  workspace: { setup: null, share: null, carry: [] },
  forge: {
    use: "none",
    repository: null,
    api: "https://api.github.com",
    remote: "origin",
    tokenFrom: "GITHUB_TOKEN",
    patience: "1h",
  },
  blame: { prove: true, runs: 30, time: "5m", suites: 1 },
  limits: {
    failures: 3,
    iterations: 30,
    perLocation: 3,
    errors: 3,
    inconclusives: 2,
    blocked: 3,
    agentFailures: 3,
    timeouts: 3,
    rateLimits: 20,
    refusals: 2,
    dependencyWaits: 3,
    targetMoves: DEFAULT_TARGET_MOVES,
    clarifications: 2,
    ciRetries: 2,
    remediations: 3,
    transientRetries: 3,
    backoff: "1s",
    timeout: { developer: "15m", critic: "10m", auditor: "10m", remediation: "5m" },
    costUsd: null,
    tokens: null,
    time: null,
    run: { costUsd: null, tokens: null, time: null, actions: null },
  },
  concurrency: { developers: 5, critics: 5, auditors: 5, checks: 2, stories: null },
  stall: { ...defaultStopSettings(), grace: 0 },
  specialists: [],
  scope: {
    exceptions: "ask",
    outside: "send-back",
    testPaths: [
      "**/*.test.*",
      "**/*.spec.*",
      "**/*_test.*",
      "**/test_*.py",
      "**/{test,tests}.*",
      "**/{test,tests,__tests__,spec,specs,e2e}/**",
    ],
    typePaths: ["**/*.d.ts", "**/types.*", "**/*.types.*", "**/{types,domain,model,models}/**"],
  },
  knownFailures: [],
  oracle: [],
  product: [],
  requireTest: false,
  onExhausted: "manual",
  enableCircuitBreaker: true,
  deliver: "branch",
  merge: "manual",
  notify: [],
  prices: PRICES,
  people: {},
  env: [],
  redact: [],
  sandbox: { mode: "auto", network: "shared", docker: false, read: [], write: [] },
};
