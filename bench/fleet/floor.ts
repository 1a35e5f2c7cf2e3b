import pg from "pg";

/** The minimum cost of durable storage with this server: one row, one commit, one connection. */
export interface Floor {
  commit(text: string): Promise<void>;
  close(): Promise<void>;
}

export async function openFloor(url: string): Promise<Floor> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("CREATE TABLE IF NOT EXISTS floor (id bigserial PRIMARY KEY, text text NOT NULL)");
  return {
    commit: async (text) => {
      await client.query({ name: "floor", text: "INSERT INTO floor (text) VALUES ($1)", values: [text] });
    },
    close: () => client.end(),
  };
}

/** Commits per second with this many connections at the same time. */
export async function commitsPerSecond(url: string, connections: number, commits: number): Promise<number> {
  // One after the other: two connections that create the same table at once get an error.
  const floors: Floor[] = [];
  for (let i = 0; i < connections; i++) floors.push(await openFloor(url));
  const text = "x".repeat(BYTES);
  await Promise.all(floors.map((floor) => floor.commit(text)));
  const begin = performance.now();
  await Promise.all(
    floors.map(async (floor) => {
      for (let i = 0; i < commits / connections; i++) await floor.commit(text);
    }),
  );
  const seconds = (performance.now() - begin) / 1000;
  await Promise.all(floors.map((floor) => floor.close()));
  return commits / seconds;
}

/** The size of most events. */
const BYTES = 500;
