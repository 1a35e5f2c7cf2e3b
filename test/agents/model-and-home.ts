import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { startModelServer, type ModelServer } from "../../src/testing/model-server.ts";
import { makeHome, removeHome } from "./installed-clients.ts";

/** What a real client needs: a model on loopback, and a home that it may write to. */
export interface ModelAndHome {
  readonly server: ModelServer;
  readonly home: string;
}

/** Creates both, for all tests of a file or for each test, and removes them afterwards. */
export function modelAndHome(lives: "for all tests" | "for each test"): ModelAndHome {
  const [before, after] = lives === "for all tests" ? [beforeAll, afterAll] : [beforeEach, afterEach];
  let server: ModelServer;
  let home: string;
  before(async () => {
    server = await startModelServer();
    home = makeHome();
  });
  after(async () => {
    await server.close();
    removeHome(home);
  });
  return {
    get server() {
      return server;
    },
    get home() {
      return home;
    },
  };
}
