import type { AgentError } from "../../ports/agent.ts";
import { HUNG_UP, RpcFault } from "./acp-rpc.ts";

/** Agents say in their own words what went wrong, if at all; the protocol itself knows only that a login is missing. */
export function acpError(fault: unknown): AgentError {
  const message = fault instanceof Error ? fault.message : String(fault);
  const data = fault instanceof RpcFault ? JSON.stringify(fault.data) : "";
  const code = fault instanceof RpcFault ? fault.code : 0;
  const kind = code === AUTH_REQUIRED ? "auth" : code === HUNG_UP ? "crash" : kindOf(`${message} ${data}`, code);
  const fix = FIXES[kind];
  return {
    kind,
    message: `acp: ${message.replaceAll(/\s+/g, " ").slice(0, 500)}`,
    ...(fix === undefined ? {} : { fix }),
  };
}

/** Some end their turn as if all were well, with nothing but the provider's complaint as their message. */
export function complaintIn(text: string): AgentError | null {
  return COMPLAINT.test(text) ? acpError(new Error(text)) : null;
}

const AUTH_REQUIRED = -32000;
const COMPLAINT = /^\s*(?:API Error|unexpected status \d{3}|stream error|We.re currently experiencing high demand)/i;

function kindOf(words: string, code: number): AgentError["kind"] {
  return (
    RULES.find(([pattern]) => pattern.test(words))?.[1] ?? (code <= -32600 && code > -32603 ? "bad-request" : "crash")
  );
}

const RULES: readonly (readonly [RegExp, AgentError["kind"]])[] = [
  [/credit balance|quota|billing/i, "credit"],
  [/\b40[13]\b|unauthori[sz]ed|authenticat|api key|log ?in\b/i, "auth"],
  [/\b429\b|rate.?limit|usage limit/i, "rate-limit"],
  [/\b5\d\d\b|overloaded|high demand|unable to connect|econn|fetch failed/i, "overloaded"],
  [/context (?:length|window)|prompt is too long/i, "context-length"],
  [/model.{0,60}(?:not found|(?:does|may) not exist|unknown)|\b40[04]\b/i, "bad-request"],
];

const FIXES: { readonly [K in AgentError["kind"]]?: string } = {
  auth: "start the agent by hand and log in, or give it its key by `env`, then send the story back",
  credit: "add credit to the account that the agent uses, then send the story back",
  "bad-request": "look at the role's `model`, `command` and `args`, then send the story back",
  "context-length": "give the story less to read, or split it",
};
