import { describe } from "vitest";
import type { ClientAgentOptions } from "../../src/agents/client/client.ts";
import type { Agent, AgentRequest } from "../../src/ports/agent.ts";
import { describeAgent } from "../contract/agent.ts";
import { createCookies, play, promptsIn, type Hands } from "./client-under-test.ts";
import { describeConfinement } from "./confinement.ts";
import { modelAndHome, type ModelAndHome } from "./model-and-home.ts";

/** An installed client, and how to drive it. */
export interface RealClient {
  readonly name: string;
  readonly hands: Hands;
  make(place: ModelAndHome, options: MakeOptions): Agent;
  /** The cost of one answer of its model, as the client reports it. */
  readonly answerUsd: number | null;
  readonly request?: Partial<AgentRequest>;
  readonly lacks?: readonly ("forms" | "secrecy")[];
  /** Tests for this client only. */
  tests?(place: ModelAndHome, make: () => Agent): void;
}

interface MakeOptions extends Pick<ClientAgentOptions, "cookieOf" | "edits"> {
  /** Another program in its place. */
  readonly command?: string;
}

/** Tests the agents' contract and their limits with the real client. */
export function describeRealClient(client: RealClient): void {
  const { name, hands, make, answerUsd, request = {}, lacks = [] } = client;
  const cookies = createCookies();
  const place = modelAndHome("for all tests");
  const made = (options: Omit<MakeOptions, "cookieOf">): Agent => make(place, { ...options, cookieOf: cookies.of });
  describe(`real ${name}`, () => {
    describeAgent(name, {
      make(behavior) {
        play(place.server, behavior, hands);
        return made(behavior.ends === "crash" ? { command: "false" } : {});
      },
      leftovers: cookies.left,
      request,
      client: {
        answer: { tokens: 1000, costUsd: answerUsd },
        troubles: ["rate-limit", "refused", "credit", "context-length"],
        prompts: () => promptsIn(place.server.requests.at(-1)),
        lacks: lacks.filter((lack) => lack === "forms"),
      },
    });
    describeConfinement(name, {
      hands,
      server: () => place.server,
      make: made,
      left: cookies.left,
      lacks: lacks.filter((lack) => lack === "secrecy"),
    });
    client.tests?.(place, () => made({}));
  });
}
