import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A network between a client and the server that can be made to misbehave. */
export interface Proxy {
  /** The given address of the server, through the proxy. */
  url(through: string): string;
  /** Ends every connection; new ones are taken. */
  cut(): void;
  /** `lose-answers`: what the server says is lost. `freeze`: nothing goes through. Connections stay as they are. */
  network(state: "well" | "lose-answers" | "freeze"): void;
  /** How many connections were made. */
  connections(): number;
  close(): Promise<void>;
}

export async function startProxy(port: number): Promise<Proxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let made = 0;
  let state: "well" | "lose-answers" | "freeze" = "well";
  const server = createServer((client) => {
    made += 1;
    const behind = connect(port, "127.0.0.1");
    const pair = [client, behind] as const;
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      client.destroy();
      behind.destroy();
    };
    for (const socket of pair) socket.on("error", end).on("close", end);
    client.on("data", (data) => void (state === "freeze" ? undefined : behind.write(data)));
    behind.on("data", (data) => void (state === "well" ? client.write(data) : undefined));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: own } = server.address() as AddressInfo;
  const cut = (): void => {
    for (const [client, behind] of pairs) {
      client.destroy();
      behind.destroy();
    }
  };
  return {
    url: (through) => through.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${own}`),
    cut,
    network: (next) => {
      state = next;
    },
    connections: () => made,
    close: async () => {
      server.close();
      cut();
      await once(server, "close");
    },
  };
}
