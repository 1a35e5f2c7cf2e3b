/** Receipts through the program: what holds for a commit, and what was done to the record. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createSqliteJournal } from "../../../src/adapters/journal/sqlite-journal.ts";
import { openSqlite, type SqliteDatabase } from "../../../src/adapters/journal/sqlite.ts";
import { lineAfter, START, type Line } from "../../../src/adapters/journal/chain.ts";
import { signPayload } from "../../../src/compose/receipts/check-receipt.ts";
import { makeRepository, type TestRepository } from "../../kit/git-repository.ts";
import { keepTestToken } from "../../kit/test-token.ts";
import { anchorIn, journalIn, MAIN, type Ran, recordFile, storyText } from "../recorded-project.ts";
import { rightAnswer } from "../right-answer.ts";

let made: TestRepository;
let state: string;
let root: string;

const remand = (cwd: string, args: readonly string[], stateHome = state): Ran => {
  keepTestToken(stateHome);
  const env = { ...process.env, XDG_STATE_HOME: stateHome, REMAND_SANDBOX: "off" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { cwd, env, encoding: "utf8" });
  return { status, out: stdout, err: stderr };
};
const git = (...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
    cwd: root,
    encoding: "utf8",
    stdio: "pipe",
  }).trim();
const RUN = ["run", "--reporter", "minimal"];

beforeAll(() => {
  const config = 'gates:\n  checks:\n    commands: ["grep -q right answer.txt"]\n';
  made = makeRepository(rightAnswer({ stories: 1, attemptMs: 5, config }));
  state = join(made.home, "state");
  made.write("remand.keys", remand(made.root, ["key", "show"]).out);
  made.git("add", "--all");
  made.git("commit", "--quiet", "-m", "the key");
  for (const story of ["", "second"]) {
    if (story !== "") {
      cpSync(join(made.root, ".remand"), join(made.home, "older/.remand"), { recursive: true });
      cpSync(anchorIn(made.root), join(made.home, "older/journal.json"));
      made.write("stories/second.md", storyText("second"));
      made.git("add", "--all");
      made.git("commit", "--quiet", "-m", "another story, and so other files");
    }
    const ran = remand(made.root, RUN);
    if (ran.status !== 0) throw new Error(ran.out + ran.err);
  }
}, 120_000);
afterAll(() => made.clear());

let copies = 0;
beforeEach(() => {
  root = join(made.home, `receipts-${copies++}`);
  cpSync(made.root, root, { recursive: true });
  recordFile(root);
});

const receipts = (): string[] => git("for-each-ref", "--format=%(refname)", "refs/remand/receipts").split("\n");
const receiptOf = (story: string): string => receipts().find((ref) => ref.endsWith(`-${story}`))!;
interface Envelope {
  payload: string;
  readonly signatures: { keyid: string; sig: string }[];
}
const envelopeOf = (ref: string): Envelope =>
  JSON.parse(/^\{.*\}$/m.exec(git("log", "-1", "--format=%B", ref))![0]) as Envelope;
/** Puts another text into the place of a receipt. */
function replaceReceipt(ref: string, envelope: Envelope, to = ref): void {
  const [tree, parent] = git("log", "-1", "--format=%T %P", ref).split(" ") as [string, string];
  const message = `Receipt\n\n${JSON.stringify(envelope)}\n`;
  git("update-ref", to, git("commit-tree", tree, "-p", parent, "-m", message));
}

/** Signs a copy of a receipt for the newest commit with another user's key. */
function forgeReceipt(stateHome: string): void {
  const ref = receiptOf("story-0");
  const [commit, tree] = git("log", "-1", "--format=%H %T").split(" ") as [string, string];
  const statement = JSON.parse(Buffer.from(envelopeOf(ref).payload, "base64").toString("utf8")) as {
    subject: [{ digest: { gitCommit: string } }, { digest: { gitTree: string } }];
  };
  const [{ digest: ofCommit }, { digest: ofTree }] = statement.subject;
  const to = ref.replace(ofCommit.gitCommit, commit).replace(ofTree.gitTree, tree);
  ofCommit.gitCommit = commit;
  ofTree.gitTree = tree;
  const payload = Buffer.from(JSON.stringify(statement));
  const { keys } = JSON.parse(remand(root, ["key", "show", "--json"], stateHome).out) as { keys: { id: string }[] };
  const { privateKey } = JSON.parse(readFileSync(join(stateHome, "remand/receipt-key.json"), "utf8")) as {
    privateKey: string;
  };
  const sig = signPayload("application/vnd.in-toto+json", payload, privateKey);
  const signatures = [{ keyid: keys[0]!.id, sig }];
  replaceReceipt(ref, { ...envelopeOf(ref), payload: payload.toString("base64"), signatures }, to);
}

async function change(work: (db: SqliteDatabase) => void): Promise<void> {
  const db = await openSqlite(journalIn(root), "write");
  work(db);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}
function rehash(db: SqliteDatabase): void {
  const lines = db.prepare("SELECT position, stream, seq, at, v, event, hash FROM line ORDER BY position").all();
  let head = START;
  for (const { position, stream, seq, at, event } of lines as Line[]) {
    const line = lineAfter(head, (stream as string) === "" ? null : stream, seq, at, event);
    db.prepare("UPDATE line SET hash = ? WHERE position = ?").run(line.hash, position);
    head = line;
  }
}
const EDIT = "UPDATE line SET at = at + 1 WHERE position = 7";
const evidenceFiles = (): string[] =>
  readdirSync(join(root, ".remand/evidence"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".gz"))
    .map((name) => join(root, ".remand/evidence", name));
const RECORD = ["verify"];
const REQUIRED = ["verify", "main..remand/story-0", "--require"];

type Row = readonly [what: string, act: () => Promise<void> | void, command: readonly string[], says: RegExp];
const ROWS: readonly Row[] = [
  ["a line edited", () => change((db) => db.exec(EDIT)), RECORD, /^not intact: line 7: /],
  [
    "the receipt's own line edited, with a forged record of the file",
    async () => {
      await change((db) => db.exec("UPDATE line SET at = at + 1 WHERE position = (SELECT max(position) FROM line)"));
      // As if the change had been Remand's own: the clone's record of the file fits it.
      recordFile(root);
    },
    RUN,
    /[Ll]ine \d+ of the journal was changed|the end of the journal .* is damaged/,
  ],
  [
    "the end cut off, and the clone's record deleted",
    async () => {
      await change((db) => db.exec("DELETE FROM line WHERE position > 12; DELETE FROM snapshot"));
      rmSync(anchorIn(root));
    },
    RUN,
    /ends at line 12, but the receipt of second names line \d+: line 13/,
  ],
  [
    "lines edited and hashed again, and the clone's record deleted",
    async () => {
      await change((db) => {
        db.exec(EDIT);
        rehash(db);
      });
      rmSync(anchorIn(root));
    },
    RUN,
    /Line \d+ of the journal is not the one that the receipt of second names/,
  ],
  [
    "rolled back together with the clone's record",
    () => {
      rmSync(join(root, ".remand"), { recursive: true });
      cpSync(join(made.home, "older/.remand"), join(root, ".remand"), { recursive: true });
      cpSync(join(made.home, "older/journal.json"), anchorIn(root));
    },
    RUN,
    /ends at line \d+, but the receipt of second names line \d+/,
  ],
  [
    "replaced by another project's journal, and the clone's record deleted",
    async () => {
      rmSync(journalIn(root));
      rmSync(anchorIn(root));
      const other = await createSqliteJournal(journalIn(root));
      await other.append(null, 0, [{ type: "base.moved", commit: "" }], 1);
      await other.close();
    },
    RECORD,
    /^not intact: .*not the one that belongs here: .*receipts here were made for/,
  ],
  [
    "evidence changed",
    () => writeFileSync(evidenceFiles()[0]!, "all fine"),
    RECORD,
    /^not intact: the evidence [0-9a-f]{12} that line \d+ .* was changed/,
  ],
  ["evidence deleted", () => rmSync(evidenceFiles()[0]!), RECORD, /^not intact: the evidence .* is missing/],
  [
    "the branch amended",
    () => {
      git("checkout", "--quiet", "remand/story-0");
      writeFileSync(join(root, "answer.txt"), "right, or not\n");
      git("commit", "--quiet", "--all", "--amend", "--no-edit");
      git("checkout", "--quiet", "main");
    },
    RECORD,
    /^not intact: the branch remand\/story-0 is at [0-9a-f]{12}, which no receipt covers/,
  ],
  ["the branch deleted", () => void git("branch", "-D", "remand/story-0"), RECORD, /of story-0 is on no branch/],
  [
    "the branch moved to another story's",
    () => void git("branch", "--force", "remand/story-0", "main"),
    RECORD,
    /the branch remand\/story-0 is at/,
  ],
  [
    "a commit added to the branch in the agent's name",
    () => {
      git("checkout", "--quiet", "remand/story-0");
      git("commit", "--quiet", "--allow-empty-message", "--allow-empty", "-m", "more\n\nRemand-Story: story-0");
      writeFileSync(join(root, "answer.txt"), "wrong\n");
      git("commit", "--quiet", "--all", "--amend", "--no-edit");
      git("checkout", "--quiet", "main");
    },
    REQUIRED,
    /✖ [^]*No receipt holds for it/,
  ],
  [
    "a receipt's ref moved",
    () => void git("update-ref", receiptOf("story-0"), git("rev-parse", "main")),
    RECORD,
    /^not intact: The receipt of story-0 .*its ref was moved/,
  ],
  [
    "a receipt's ref deleted",
    () => void git("update-ref", "-d", receiptOf("story-0")),
    RECORD,
    /the receipt of story-0 \(line \d+, acceptance\) is missing/,
  ],
  [
    "the same, looked at elsewhere",
    () => void git("update-ref", "-d", receiptOf("story-0")),
    REQUIRED,
    /✖ .*attempt 2/,
  ],
  [
    "a receipt altered",
    () => {
      const envelope = envelopeOf(receiptOf("story-0"));
      const text = Buffer.from(envelope.payload, "base64").toString("utf8").replace('"claim"', '"token"');
      const changed = text.replace('"isKeyExposed":true', '"isKeyExposed":false');
      expect(changed).not.toBe(text);
      replaceReceipt(receiptOf("story-0"), { ...envelope, payload: Buffer.from(changed).toString("base64") });
    },
    REQUIRED,
    /The receipt of story-0 .* was changed after it was signed/,
  ],
  [
    "a receipt swapped to another commit",
    () => {
      const ref = receiptOf("story-0");
      const [tip, tree] = git("log", "-1", "--format=%H %T", "remand/story-0~1").split(" ") as [string, string];
      const [commit, old] = git("log", "-1", "--format=%H %T", "remand/story-0").split(" ") as [string, string];
      replaceReceipt(ref, envelopeOf(ref), ref.replace(commit, tip).replace(old, tree));
    },
    ["verify", "remand/story-0~1", "--require"],
    /is about [0-9a-f]{12}, not about [0-9a-f]{12}: it was put under another name/,
  ],
  [
    "the key replaced, and the receipt signed again",
    () => {
      const other = join(made.home, `forger-${copies}`);
      const [, publicKey] = remand(root, ["key", "show"], other).out.split(" ");
      const { privateKey } = JSON.parse(readFileSync(join(other, "remand/receipt-key.json"), "utf8")) as {
        privateKey: string;
      };
      const envelope = envelopeOf(receiptOf("story-0"));
      const sig = signPayload("application/vnd.in-toto+json", Buffer.from(envelope.payload, "base64"), privateKey);
      const id = JSON.parse(remand(root, ["key", "show", "--json"], other).out) as { keys: { id: string }[] };
      replaceReceipt(receiptOf("story-0"), { ...envelope, signatures: [{ keyid: id.keys[0]!.id, sig }] });
      // The forger lists the key in what is verified: only the base branch counts.
      git("checkout", "--quiet", "-B", "forged", "remand/story-0");
      writeFileSync(join(root, "remand.keys"), `ed25519 ${publicKey}\n`);
      git("commit", "--quiet", "--all", "-m", "a key");
      git("checkout", "--quiet", "main");
    },
    ["verify", "main..forged", "--require"],
    /is signed by the key [0-9a-f]{16}, which is not known in remand.keys on main/,
  ],
  [
    "a forger's key and a receipt for other work, pushed to the base branch at once",
    () => {
      const other = join(made.home, `pusher-${copies}`);
      git("tag", "before");
      writeFileSync(join(root, "remand.keys"), remand(root, ["key", "show"], other).out);
      git("commit", "--quiet", "--all", "-m", "a key");
      writeFileSync(join(root, "answer.txt"), "wrong, forged\n");
      git("commit", "--quiet", "--all", "-m", "work\n\nRemand-Story: story-0");
      forgeReceipt(other);
    },
    ["verify", "before..main", "--require"],
    /is signed by the key [0-9a-f]{16}, which is not known in remand.keys on main/,
  ],
  [
    "the user's key file replaced, in a project that lists no keys",
    () => {
      git("rm", "--quiet", "remand.keys");
      git("commit", "--quiet", "-m", "no keys");
      const other = join(made.home, `replaced-${copies}`);
      remand(root, ["key", "show"], other);
      swapped = other;
    },
    RECORD,
    /is signed by the key [0-9a-f]{16}, which is not known/,
  ],
];
/** The state folder of the row, where it is another. */
let swapped: string | null = null;

describe("the record", () => {
  test.each(ROWS)("%s: found", { timeout: 60_000 }, async (_what, act, command, says) => {
    swapped = null;
    await act();
    const ran = remand(root, command, swapped ?? state);
    expect(ran.out + ran.err).toMatch(says);
    expect(ran.status).toBe(command === RUN ? 1 : 3);
  });

  test("nothing is found in an untouched repository, nor in an untouched clone", { timeout: 60_000 }, () => {
    expect(remand(root, RECORD).out).toMatch(/^intact: \d+ lines, .*; \d+ pieces of evidence; 2 receipts\n$/);
    expect(remand(root, REQUIRED)).toMatchObject({ status: 0, out: expect.stringContaining("2 commits of 2") });
    const source = root;
    root = `${root}-clone`;
    execFileSync("git", ["clone", "--quiet", source, root]);
    const range = ["verify", "origin/main..origin/remand/story-0", "--require"];
    expect(remand(root, range).out).toContain("No receipt is here: fetch them, git fetch origin");
    git("fetch", "--quiet", "origin", "refs/remand/receipts/*:refs/remand/receipts/*");
    expect(remand(root, range, join(made.home, "elsewhere")).status).toBe(0);
    // A journal of another clone binds nothing here.
    const ran = remand(root, RUN, join(made.home, "elsewhere"));
    expect(ran.err).not.toMatch(/missing|receipt|not the one|A new journal/);
    expect(remand(root, RECORD, join(made.home, "elsewhere")).out).toMatch(/^intact: /);
  });
});

describe("commits that follow from a receipt", () => {
  const verify = (...args: readonly string[]): Ran => remand(root, ["verify", ...args]);
  beforeEach(() => {
    writeFileSync(join(root, "other.txt"), "other\n");
    git("add", "other.txt");
    git("commit", "--quiet", "-m", "other work");
  });

  test("a merge, a squash, a rebase and the same files elsewhere", { timeout: 60_000 }, () => {
    git("checkout", "--quiet", "-b", "merged");
    git("merge", "--quiet", "--no-ff", "-m", "merge it", "remand/story-0");
    expect(verify("HEAD", "--require", "--all").out).toContain("merges the accepted commit");
    git("checkout", "--quiet", "-b", "squashed", "main");
    git("merge", "--quiet", "--squash", "remand/story-0");
    git("commit", "--quiet", "-m", "squashed (#1)\n\n* attempt 2\n\nRemand-Story: story-0\n\nCo-authored-by: A <a@b>");
    expect(verify("main..HEAD", "--require").out).toContain("is a squash or rebase of the accepted commit");
    git("checkout", "--quiet", "-b", "rebased", "remand/story-0");
    git("rebase", "--quiet", "main");
    expect(verify("main..HEAD", "--require", "--all")).toMatchObject({
      status: 0,
      out: expect.stringMatching(/is a squash or rebase[^]*is an earlier state[^]*verified: 2 commits of 2/),
    });
    const tree = git("rev-parse", "remand/story-0^{tree}");
    const same = git("commit-tree", tree, "-m", "the same files");
    expect(verify(same, "--require", "--all").out).toContain("has the accepted files");
    const document = JSON.parse(verify(same, "--json").out) as { commits: { receipt: { predicate: object } }[] };
    expect(document.commits[0]!.receipt.predicate).toMatchObject({
      kind: "acceptance",
      gates: [
        { gate: "integrity", result: "pass" },
        { gate: "checks", result: "pass" },
      ],
      isolation: { agents: ["none"], isKeyExposed: true },
    });
  });

  test("not: a merge or squash that holds more, a rejected attempt, a commit of a person", { timeout: 60_000 }, () => {
    git("checkout", "--quiet", "-b", "merged");
    git("merge", "--quiet", "--no-ff", "--no-commit", "remand/story-0");
    writeFileSync(join(root, "more.txt"), "slipped in\n");
    git("add", "more.txt");
    git("commit", "--quiet", "-m", "merge it\n\nRemand-Story: story-0");
    expect(verify("HEAD", "--require").status).toBe(3);
    expect(verify("remand/story-0~1", "--require").status).toBe(3);
    expect(verify("main", "--require").status).toBe(0);
    expect(verify("main", "--require", "--all")).toMatchObject({ status: 3, out: expect.stringContaining("✖") });
    expect(verify("main", "--all")).toMatchObject({ status: 2, err: expect.stringContaining("Add --require") });
    expect(remand(root, ["verify", "--require"])).toMatchObject({ status: 2 });
  });

  test("a key that was rotated still counts for what it signed, and not for later", { timeout: 60_000 }, () => {
    const own = join(made.home, "rotated");
    cpSync(state, own, { recursive: true });
    const env = { ...process.env, XDG_STATE_HOME: own };
    const rotated = spawnSync(process.execPath, [MAIN, "key", "rotate"], { cwd: root, env, encoding: "utf8" });
    expect(rotated.status, rotated.stderr).toBe(0);
    const [first = "", second = ""] = rotated.stdout.split("\n");
    expect(first).toMatch(/^ed25519 \S+ from \S+ to \S+$/);
    expect(second).toMatch(/^ed25519 \S+ from \S+$/);
    writeFileSync(join(root, "keys"), rotated.stdout);
    expect(verify("remand/story-0", "--require", "--keys", "keys").status).toBe(0);
    writeFileSync(join(root, "keys"), first.replace(/ to .*/, " to 2020-01-01"));
    expect(verify("remand/story-0", "--require", "--keys", "keys").out).toMatch(/when the key \S+ was not valid/);
    expect(remand(root, ["verify"], own).out).toMatch(/^intact: /);
  });
});
