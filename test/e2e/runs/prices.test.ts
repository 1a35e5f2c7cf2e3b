import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { checkoutOf } from "../checkout.ts";
import { testInFull } from "../../sampled.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

/** It says what it used, and not what that cost. */
const AGENT = `
import { writeFileSync } from "node:fs";
writeFileSync("answer.txt", "right\\n");
const usage = { inputTokens: 1000000, cachedTokens: 500000, outputTokens: 100000 };
writeFileSync(process.env.REMAND_RESULT_FILE, JSON.stringify({ text: "done", usage }));
`;

function spent(model: string, prices = ""): { costUsd: number; costUnknown: boolean; tokens: number } {
  const root = checkoutOf({
    "stories/say-right.md": '---\ntitle: Say right\nstatus: ready\ntarget: "*"\n---\n\nWrite right.\n',
    "agent.mjs": AGENT,
    "remand.yaml": `version: 1
preset: goal
agents: { developer: { use: command, command: node agent.mjs, model: ${model} } }
gates: { checks: { commands: [grep -q right answer.txt] } }
${prices}`,
  });
  const remand = (...args: string[]): string => {
    const ran = spawnSync(process.execPath, [MAIN, ...args], { cwd: root, encoding: "utf8" });
    expect(ran.status, ran.stdout + ran.stderr).toBe(0);
    return ran.stdout;
  };
  remand("run", "--reporter", "minimal");
  return (JSON.parse(remand("cost", "--json")) as { rows: [ReturnType<typeof spent>] }).rows[0];
}

testInFull("tokens are priced by the table", () => {
  expect(spent("gpt-5.4")).toMatchObject({ costUsd: 1.25 + 0.125 + 1.5, costUnknown: false, tokens: 1_100_000 });
});

test("tokens are priced by the project's own price; a model without one costs an unknown sum", () => {
  const own = "prices: { gpt-5.4: { input: 1, output: 10 } }\n";
  expect(spent("gpt-5.4", own)).toMatchObject({ costUsd: 2, costUnknown: false });
  expect(spent("gpt-of-ours")).toMatchObject({ costUsd: 0, costUnknown: true, tokens: 1_100_000 });
});
