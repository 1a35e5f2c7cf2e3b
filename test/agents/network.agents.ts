import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { NETWORK_VARIABLE } from "./network.ts";

const isConfined = process.env[NETWORK_VARIABLE] === "loopback";

test.runIf(isConfined)("there is no network but loopback, and no way out of it", async () => {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  expect(addresses.filter(({ internal }) => !internal)).toEqual([]);
  await expect(fetch("http://192.0.2.1/")).rejects.toThrow("fetch failed");
});

test.skipIf(isConfined)("NOT CONFINED: the clients ran in this machine's own network", () => {
  expect(isConfined).toBe(false);
});
