import { spawn, spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { write } from "../../kit/git-repository.ts";
import { checkoutOf } from "../checkout.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

test("run --watch works on stories that come later, hears an answer, and ends when it is told to", async () => {
  const root = checkoutOf({
    "answer.txt": "wrong\n",
    "agent.sh": 'if [ -e "$PWD/../../../may-work" ]; then echo right > answer.txt; else echo no > answer.txt; fi\n',
    "remand.yaml": [
      "version: 1",
      "preset: goal",
      "agents: { developer: { use: command, command: sh agent.sh } }",
      "gates: { checks: { commands: [grep -q right answer.txt] } }",
      "limits: { iterations: 1 }",
      "",
    ].join("\n"),
  });
  const child = spawn(process.execPath, [MAIN, "run", "--watch", "--reporter", "minimal"], { cwd: root });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const until = async (what: string, times = 1): Promise<void> => {
    while (said.split(what).length <= times) {
      expect(child.exitCode, said).toBeNull();
      await sleep(50);
    }
  };
  try {
    await until("watching stories");
    write(root, "stories/say-it.md", '---\ntitle: Say right\nstatus: ready\ntarget: "*"\n---\n\nSay it.\n');
    await until("say-it");
    await until("1 question waits for you");
    write(root, "may-work", "");
    const answer = ["answer", "say-it", "raise-budget", "--limit", "3", "--by", "ada"];
    const told = spawnSync(process.execPath, [MAIN, ...answer], { cwd: root, encoding: "utf8" });
    expect(told.status, told.stderr).toBe(0);
    await until("accepted");
    await until("watching stories", 3);
  } finally {
    child.kill("SIGINT");
  }
  expect(await ended, said).toBe(130);
  const status = spawnSync(process.execPath, [MAIN, "status"], { cwd: root, encoding: "utf8" });
  expect(status).toMatchObject({ status: 0, stdout: expect.stringContaining("1 accepted") });
});
