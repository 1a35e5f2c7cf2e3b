import { describe, expect, test } from "vitest";
import {
  loginOf,
  remoteError,
  troubleIn,
  type RemoteTrouble,
} from "../../../../src/adapters/git/fleet/shared-remote.ts";

/** Messages of servers and clients. */
const SAID: readonly (readonly [RemoteTrouble, string])[] = [
  ["passing", "fatal: unable to access 'https://h/x.git/': Could not resolve host: h"],
  ["passing", "fatal: unable to access 'https://h/x.git/': Failed to connect to h port 443: Connection refused"],
  ["passing", "error: RPC failed; HTTP 502 curl 22 The requested URL returned error: 502"],
  ["passing", "fatal: unable to access 'https://h/x.git/': The requested URL returned error: 429"],
  [
    "passing",
    "ssh: connect to host h port 22: Connection timed out\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.",
  ],
  ["passing", "kex_exchange_identification: Connection closed by remote host"],
  ["passing", "fatal: unable to connect to h:\nh[0: 127.0.0.1]: errno=Connection refused"],
  ["passing", "fatal: the remote end hung up unexpectedly"],
  ["passing", "git push was ended by SIGPIPE"],
  ["passing", "git fetch took longer than 600 s"],
  ["passing", "! [remote rejected] abc -> refs/remand/x (failed to update ref)"],
  ["passing", "error: cannot lock ref 'refs/remotes/origin/main': is at 1 but expected 2"],
  ["passing", "fatal: Unable to create '/r/packed-refs.lock': File exists."],
  ["passing", "fatal: bad object worktrees/S-1/HEAD\nerror: /x.git did not send all necessary objects"],
  ["no-repository", "fatal: '/none.git' does not appear to be a git repository"],
  ["no-repository", "fatal: repository 'https://h/none.git/' not found"],
  ["no-repository", "fatal: remote error: access denied or repository not exported: /x.git"],
  ["no-repository", "ERROR: Repository not found.\nfatal: Could not read from remote repository."],
  ["no-rights", "git@h: Permission denied (publickey).\nfatal: Could not read from remote repository."],
  ["no-rights", "fatal: Authentication failed for 'https://h/x.git/'"],
  ["no-rights", "fatal: could not read Username for 'https://h': terminal prompts disabled"],
  ["no-rights", "fatal: unable to access 'https://h/x.git/': The requested URL returned error: 403"],
  ["no-rights", "remote: error: GH006: Protected branch update failed for refs/heads/main."],
  ["no-rights", "! [remote rejected] main -> main (pre-receive hook declined)"],
  ["no-rights", "fatal: remote error: service not enabled: /x.git"],
  ["not-there", "fatal: couldn't find remote ref refs/heads/x\nfatal: the remote end hung up unexpectedly"],
  ["not-there", "fatal: remote error: upload-pack: not our ref 1234"],
  ["not-there", "error: Server does not allow request for unadvertised object 1234"],
  ["other", "error: unpack failed: index-pack abnormal exit"],
];

test.each(SAID)("%s: %s", (trouble, words) => {
  expect(troubleIn(words)).toBe(trouble);
});

test("each kind has its own error, with the address and a fix", () => {
  const codes = ["Connection refused", "repository not exported", "permission denied", "odd"].map((words) => {
    const { code, message, hint } = remoteError("it failed", "https://h/x.git", words);
    expect(message).toMatch(/^it failed: /);
    expect(hint).toMatch(/\.$/);
    return code;
  });
  expect(codes).toEqual(["forge-unreachable", "not-a-repository", "forge-refused", "git-failed"]);
});

describe("a login", () => {
  test("is removed from an address, and from every text", () => {
    const { address, env, settings, hidden } = loginOf("https://bot%40x:p%2Fss-w0rd@Host.example:8443/team/x.git");
    expect(address).toBe("https://Host.example:8443/team/x.git");
    expect(env).toEqual({ REMAND_GIT_USERNAME: "bot@x", REMAND_GIT_PASSWORD: "p/ss-w0rd" });
    expect(settings.join("\n")).not.toMatch(/w0rd|bot/);
    expect(settings.every((setting) => setting.startsWith("credential.https://Host.example:8443.helper="))).toBe(true);
    expect(hidden("at https://bot%40x:p%2Fss-w0rd@Host.example/x: p/ss-w0rd")).toBe("at https://Host.example/x: ***");
  });

  test("may be only a token; other text is unchanged", () => {
    const token = loginOf("https://ghp_0123456789@h/x.git");
    expect(token.env).toEqual({ REMAND_GIT_USERNAME: "ghp_0123456789", REMAND_GIT_PASSWORD: "" });
    expect(token.hidden("bad ghp_0123456789")).toBe("bad ***");
    for (const remote of ["git@h:team/x.git", "ssh://git@h/x.git", "/srv/a@b/x.git", "https://h/a@b.git", "git://h/x"])
      expect(loginOf(remote)).toMatchObject({ address: remote, settings: [], env: {} });
    expect(loginOf("https://a:%zz@h/x").env).toMatchObject({ REMAND_GIT_PASSWORD: "%zz" });
  });
});
