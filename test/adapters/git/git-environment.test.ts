import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createGit } from "../../../src/adapters/git/git.ts";
import { makeRepository } from "../../kit/git-repository.ts";

/** Returns the environment of a program that git starts during a call of the engine. */
async function seenBy(call: { readonly remote?: boolean }, named: Record<string, string> = {}): Promise<string> {
  const repository = makeRepository({ ".gitattributes": "*.txt filter=spy\n" });
  onTestFinished(() => repository.clear());
  const { root, home, env } = repository;
  repository.git("config", "filter.spy.clean", `env > ${join(home, "seen")}; cat`);
  repository.write("a.txt", "a\n");
  const git = createGit(root, {
    ...env,
    ACME_API_TOKEN: "hunter2-of-acme-9000",
    ANTHROPIC_API_KEY: "hunter2-of-anthropic",
    DATABASE_URL: "postgres://me:hunter2@db/x",
    GH_TOKEN: "hunter2-of-github",
    GIT_DIR: "/nowhere",
    GIT_SSH_COMMAND: "ssh -i key",
    HTTPS_PROXY: "http://proxy.example",
    SSH_AUTH_SOCK: "/run/agent",
    REMAND_GIT_PASSWORD: "hunter2-of-the-fleet",
    ...named,
  });
  await git.run(["add", "a.txt"], call);
  return readFileSync(join(home, "seen"), "utf8");
}

test("a filter sees only the usual variables, and no secret", async () => {
  const seen = await seenBy({});
  expect(seen).not.toContain("hunter2");
  expect(seen).not.toMatch(/^(?:HTTPS_PROXY|DATABASE_URL)=/m);
  for (const name of ["PATH", "HOME", "GIT_SSH_COMMAND", "SSH_AUTH_SOCK"])
    expect(seen).toMatch(new RegExp(`^${name}=`, "m"));
});

test("a call to a remote has the logins of git servers, and no other key", async () => {
  const seen = await seenBy({ remote: true });
  expect(seen).toContain("GH_TOKEN=hunter2-of-github");
  expect(seen).toContain("REMAND_GIT_PASSWORD=hunter2-of-the-fleet");
  expect(seen).toContain("HTTPS_PROXY=");
  expect(seen).not.toMatch(/ACME_API_TOKEN|ANTHROPIC_API_KEY/);
});

test("a credential helper gets the variables that the user names, only in calls to a remote", async () => {
  const named = { AWS_SECRET_ACCESS_KEY: "hunter2-of-aws", REMAND_GIT_ENV: "AWS_*, ACME_API_TOKEN" };
  const seen = await seenBy({ remote: true }, named);
  expect(seen).toContain("AWS_SECRET_ACCESS_KEY=hunter2-of-aws");
  expect(seen).toContain("ACME_API_TOKEN=");
  expect(seen).not.toContain("ANTHROPIC_API_KEY");
  expect(await seenBy({}, named)).not.toContain("hunter2");
});
