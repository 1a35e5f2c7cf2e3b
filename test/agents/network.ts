import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * If the machine allows it, each worker of the suite runs in a network with only loopback: clients cannot reach
 * anything outside. A name server that knows no names records the lookups; the suite fails if there are any.
 */
export const NETWORK_VARIABLE = "REMAND_TEST_NETWORK";

let folder: string | null = null;
const node = process.execPath;

export function setup(): void {
  const place = mkdtempSync(join(tmpdir(), "remand-network-"));
  const isUnwanted = process.env[NETWORK_VARIABLE] === "open";
  const unshare = isUnwanted ? null : unsharing(place);
  if (unshare === null) {
    rmSync(place, { recursive: true });
    const why = isUnwanted ? `${NETWORK_VARIABLE}=open` : "no network namespace can be made here";
    console.warn(`\nNOT CONFINED: ${why}, so the clients run in this machine's network.\n`);
    return;
  }
  folder = place;
  writeFileSync(join(place, "lookups.txt"), "");
  writeFileSync(join(place, "names.cjs"), NAMES);
  writeFileSync(join(place, "inside.sh"), insideOf(place));
  writeFileSync(join(place, "node"), `#!/bin/sh\nexec ${unshare.join(" ")} sh "${place}/inside.sh" "$@"\n`);
  chmodSync(join(place, "node"), 0o755);
  // The runner starts its workers by this path; the workers themselves see the real one.
  process.execPath = join(place, "node");
  process.env[NETWORK_VARIABLE] = "loopback";
}

export function teardown(): void {
  if (folder === null) return;
  process.execPath = node;
  const lookups = readFileSync(join(folder, "lookups.txt"), "utf8");
  rmSync(folder, { recursive: true, force: true });
  if (lookups === "") return console.log("\nNobody asked for a name, and there was no network but loopback.\n");
  process.exitCode = 1;
  throw new Error(`a test looked up these names outside of this machine:\n${lookups}`);
}

/**
 * Returns a command that gives a process its own network, or `null`. Tried, because not every user or machine may do
 * that.
 */
function unsharing(place: string): readonly string[] | null {
  writeFileSync(join(place, "resolv.conf"), "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
  const ways = [
    ["unshare", "-n", "-m"],
    ["unshare", "-r", "-n", "-m"],
  ];
  const tries = `ip link set lo up && mount --bind "${place}/resolv.conf" /etc/resolv.conf`;
  return ways.find(([program = "", ...args]) => spawnSync(program, [...args, "sh", "-c", tries]).status === 0) ?? null;
}

const insideOf = (place: string): string => `set -e
ip link set lo up
mount --bind "${place}/resolv.conf" /etc/resolv.conf
env -u NODE_CHANNEL_FD "${node}" "${place}/names.cjs" "${place}/lookups.txt" 3<&- >/dev/null 2>&1 </dev/null &
while ! [ -s "${place}/ready-$$" ]; do sleep 0.05; done
exec "${node}" "$@"
`;

/** A name server that logs every lookup. It ends when the process that started it has ended. */
const NAMES = `
const { appendFileSync, writeFileSync } = require("node:fs");
const { dirname, join } = require("node:path");
const [, , log] = process.argv;
const worker = process.ppid;
const socket = require("node:dgram").createSocket("udp4");
socket.on("message", (query, from) => {
  const labels = [];
  for (let at = 12; query[at] > 0 && at < query.length; at += query[at] + 1) labels.push(query.subarray(at + 1, at + 1 + query[at]).toString("latin1"));
  appendFileSync(log, labels.join(".") + "\\n");
  const answer = Buffer.from(query);
  answer[2] |= 0x80;
  answer[3] = 0x83;
  socket.send(answer, from.port, from.address);
});
socket.bind(53, "127.0.0.1", () => writeFileSync(join(dirname(log), "ready-" + worker), "ready"));
setInterval(() => process.ppid === worker || process.exit(0), 200);
`;
