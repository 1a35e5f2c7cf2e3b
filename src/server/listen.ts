import type { Server } from "node:http";
import { RemandError } from "../domain/error.ts";

/** The port that a server got, as soon as it listens; refused with the option that would help. */
export function portOf(server: Server, wanted: number, option: string): Promise<number> {
  return new Promise((done, failed) => {
    server.once("listening", () => {
      const address = server.address();
      done(typeof address === "object" && address !== null ? address.port : wanted);
    });
    server.once("error", (error) =>
      failed(
        new RemandError(
          "usage",
          `port ${wanted} cannot be had: ${error.message}`,
          `Give another: ${option} 0 takes any.`,
          { cause: error },
        ),
      ),
    );
  });
}

/** Whoever is connected is let go of: a reader that stays would keep the program from ending. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((done) => server.close(() => done()));
  server.closeAllConnections();
  await closed;
}
