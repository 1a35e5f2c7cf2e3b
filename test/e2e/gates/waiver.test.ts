import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitIn } from "../../kit/git-repository.ts";
import { checkoutOf } from "../checkout.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

/** The first attempt does something, the second nothing, the third what one of the two checks wants. */
const AGENT = `root=$(cd ../../.. && pwd)
echo x >> "$root/attempts"
case $(wc -l < "$root/attempts") in
  1) echo begun > begun.txt ;;
  2) ;;
  *) echo made > made.txt ;;
esac
`;

function remand(root: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { cwd: root, encoding: "utf8" });
  return { status, said: stdout + stderr, stdout };
}

test(
  "a finding that is waived after a rework that changed nothing stays waived, and the other one is still asked for",
  { timeout: 60_000 },
  () => {
    const root = checkoutOf({
      "answer.txt": "wrong\n",
      "agent.sh": AGENT,
      "stories/say-it.md": '---\ntitle: Say right\nstatus: ready\ntarget: "*"\n---\n\nSay it.\n',
      "remand.yaml": [
        "version: 1",
        "preset: goal",
        "agents: { developer: { use: command, command: sh agent.sh } }",
        "gates: { checks: { commands: [grep -q right answer.txt, test -e made.txt] } }",
        "",
      ].join("\n"),
    });
    expect(remand(root, "run", "--reporter", "minimal").said).toContain("the rework changed nothing");
    // A finding that does not exist is refused, with those that do.
    const { said } = remand(root, "answer", "say-it", "waive", "--finding", "none", "--message", "later");
    const id = /([0-9a-f]{16}).*grep -q right/.exec(said)?.[1];
    expect(id, said).toBeDefined();
    const waived = remand(root, "answer", "say-it", "waive", "--finding", id!, "--message", "later", "--by", "Ada");
    expect(waived.status, waived.said).toBe(0);
    // Signed at once, and by itself no acceptance.
    writeFileSync(join(root, "keys"), remand(root, "key", "show").stdout);
    const verify = (): string => remand(root, "verify", "remand/say-it", "--require", "--keys", "keys").said;
    expect(gitIn(root, {}, "for-each-ref", "refs/remand/receipts")).toMatch(/-waiver-/);
    expect(verify()).toMatch(/^✖/);
    const rerun = remand(root, "run", "--reporter", "minimal");
    expect(rerun.status, rerun.said).toBe(0);
    const status = remand(root, "status", "--json").stdout;
    expect(JSON.parse(status)).toMatchObject({ stories: [{ id: "say-it", status: "accepted" }] });
    // The waiver is on record, and the gate is never shown as passed.
    expect(remand(root, "show", "say-it").said).toMatch(/waived/);
    expect(verify()).toMatch(/^✔[^]*checks: (?:pass|waived)\n *checks waived by Ada \(token\): later/);
  },
);
