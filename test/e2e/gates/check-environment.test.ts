import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { makeRepository } from "../../kit/git-repository.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

const NAMES = "env | sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p' | sort";

const USER = {
  DATABASE_URL: "postgres://ada:letmein@localhost/test",
  JAVA_HOME: "/opt/java",
  GOFLAGS: "-mod=mod",
  VIRTUAL_ENV: "/opt/venv",
  NVM_DIR: "/opt/nvm",
  npm_config_registry: "https://npm.example.com/",
  HTTPS_PROXY: "http://proxy.example.com:3128",
};
const SECRETS = {
  GH_TOKEN: "a-token-of-github-1",
  CORP_TOKEN: "a-token-of-the-registry-2",
  SETUP_PASSWORD: "a-password-for-setup-3",
  PASSED_KEY: "a-key-that-is-named-4",
};

test("checks see the user's environment without secrets; set-up sees the logins of registries", () => {
  const repository = makeRepository(
    {
      "stories/one.md": "# One\n",
      ".npmrc": "//npm.example.com/:_authToken=${CORP_TOKEN}\n",
      "remand.yaml": `version: 1
preset: goal
env: [PASSED_KEY]
workspace: { setup: sh setup.sh, env: [SETUP_PASSWORD] }
agents: { developer: { use: command, command: sh agent.sh } }
gates: { checks: { commands: [sh check.sh] } }
`,
      "setup.sh": `${NAMES} > "$HOME"/out/setup\n`,
      "agent.sh": `${NAMES} > "$HOME"/out/agent\necho 1 > one.txt\n`,
      "check.sh": `${NAMES} > "$HOME"/out/check\necho "PASSED $PASSED_KEY and $DATABASE_URL"\n`,
    },
    "off",
  );
  onTestFinished(() => repository.clear());
  const out = join(repository.home, "out");
  mkdirSync(out);
  mkdirSync(join(repository.home, ".config/remand"), { recursive: true });
  writeFileSync(join(repository.home, ".config/remand/config.yaml"), "env: [FROM_USER_TOKEN]\n");
  const remand = (...argv: string[]) =>
    spawnSync(process.execPath, [MAIN, ...argv], {
      cwd: repository.root,
      encoding: "utf8",
      env: { ...repository.env, ...USER, ...SECRETS, FROM_USER_TOKEN: "a-token-of-the-user-5", PWD: repository.root },
    });

  const ran = remand("run", "--reporter", "default");
  expect(ran.status, ran.stdout + ran.stderr).toBe(0);
  const seen = (by: string) => readFileSync(join(out, by), "utf8").trim().split("\n");
  const known = [...Object.keys(USER), ...Object.keys(SECRETS), "FROM_USER_TOKEN"];
  const of = (by: string) => known.filter((name) => seen(by).includes(name));
  const passed = ["PASSED_KEY", "FROM_USER_TOKEN"];
  expect(of("check")).toEqual([...Object.keys(USER), ...passed]);
  expect(of("setup")).toEqual([...Object.keys(USER), "CORP_TOKEN", "SETUP_PASSWORD", ...passed]);
  expect(of("agent")).toEqual(passed);

  const log = remand("log", "--json").stdout;
  const lists = [...log.matchAll(/"evidence":\s*\[([^\]]*)\]/g)].map(([, list = ""]) => list);
  const ids = new Set(lists.join(" ").match(/\b[0-9a-f]{64}\b/g));
  const kept = [...ids].map((id) => remand("evidence", id).stdout).join("\n");
  expect(kept).toContain("PASSED [redacted:listed] and postgres://ada:[redacted:url-password]@localhost/test");
  for (const secret of [...Object.values(SECRETS), "letmein"]) expect(log + kept).not.toContain(secret);
});
