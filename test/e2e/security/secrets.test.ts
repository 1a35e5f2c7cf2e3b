import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { makeRepository } from "../../kit/git-repository.ts";

/*
 * An agent, a check, a reviewer and a person each give away two secrets: the value of a variable, and a token that only
 * its shape gives away. Then everything that Remand stored, printed or sent is searched for them.
 */

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const VALUE = "correct+horse/battery-9000";
/** Put together here and in the scripts, so that no file of the project holds it. */
const TOKEN = `ghp_${"aB3dE6gH9kL2".repeat(3)}`;
const LATE = "tangerine-breakfast";
const KEY_LINE = "q7Xw".repeat(16);
const MAKE_TOKEN = `T=ghp_; for i in 1 2 3; do T="$T"aB3dE6gH9kL2; done`;

const FORMS: Readonly<Record<string, string>> = {
  value: VALUE,
  "value in a URL": encodeURIComponent(VALUE),
  "value in base64": Buffer.from(`me:${VALUE}`).toString("base64").slice(4, -6),
  token: TOKEN,
  "private key": KEY_LINE,
};

const AGENT = `${MAKE_TOKEN}
echo "the variable is $ACME_API_TOKEN and the token $T"
printf 'Authorization: Basic '; printf 'me:%s' "$ACME_API_TOKEN" | base64
printf -- '-----BEGIN PRIVATE KEY-----\\n%s\\n%s\\n-----END PRIVATE KEY-----\\n' ${KEY_LINE} ${KEY_LINE}
printf 'half of it \\033[32m%s\\033[0m%s\\n' "$(echo "$T" | cut -c1-9)" "$(echo "$T" | cut -c10-)"
BY_AGENT=1 git -c user.name=A -c user.email=a@b commit --quiet --allow-empty -m "use $ACME_API_TOKEN and $T"
git config filter.agent.clean "(echo; env) >> $ENVIRONMENTS/env-agent; cat"
git config filter.agent.smudge "(echo; env) >> $ENVIRONMENTS/env-agent; cat"
echo "$RANDOM-$$" >> made.agent
echo "$RANDOM-$$" >> made.user
test -e ../../../second && echo right > answer.txt
touch ../../../second
echo "Summary: done with $ACME_API_TOKEN and $T"
`;

const CHECK = `${MAKE_TOKEN}
echo "TAP version 13"
grep -q right answer.txt && { echo "ok 1 - uses $T and $ACME_API_TOKEN"; echo "1..1"; exit 0; }
echo "not ok 1 - uses $T and $ACME_API_TOKEN"
echo "1..1"
echo "curl https://me:$ACME_API_TOKEN@acme.example/?t=$T" >&2
exit 1
`;

const REVIEW = `${MAKE_TOKEN}
nonce=$(sed -n 's/.*nonce of this prompt: .\\([0-9a-f]*\\).*/\\1/p')
echo "I read it with $ACME_API_TOKEN" >&2
cat <<END
REVIEW_FAILED: give-away
$nonce

Files Reviewed:
- answer.txt

Issues Found:
- answer.txt:1: it prints $ACME_API_TOKEN and $T

Required Fixes:
- do not print $T

Priority: HIGH
END
`;

const CONFIG = `version: 1
preset: goal
env: [ACME_API_TOKEN, ENVIRONMENTS]
notify: [ "cat >> notified.jsonl; env > notifier-env" ]
agents:
  developer: { use: command, command: sh agent.sh }
  critic: { use: command, command: sh review.sh }
gates: { checks: { commands: [sh check.sh] } }
phases: { implement: [checks, review] }
limits: { failures: 2 }
`;

function project() {
  const repository = makeRepository(
    {
      ".gitattributes": "*.agent filter=agent\n*.user filter=user\n",
      "answer.txt": "wrong\n",
      "kept.user": "kept\n",
      "agent.sh": AGENT,
      "check.sh": CHECK,
      "review.sh": REVIEW,
      "remand.yaml": CONFIG,
    },
    "off",
  );
  onTestFinished(() => repository.clear());
  const { root, home } = repository;
  // The title is a person's: the journal and all that is made of it show it redacted.
  repository.write(
    "stories/give-away.md",
    `---\ntitle: Accept ${TOKEN} at ${LATE}\nstatus: ready\ntarget: "*"\n---\n\nCall https://me:${VALUE}@acme.example.\n`,
  );
  repository.git("add", ".");
  repository.git("commit", "--quiet", "-m", "a story");
  // From here on: what the user set up, with filters that show what they see.
  for (const way of ["clean", "smudge"])
    repository.git("config", "--global", `filter.user.${way}`, `(echo; env) >> ${join(home, "env-user")}; cat`);
  const env: Record<string, string> = {
    ...repository.env,
    ACME_API_TOKEN: VALUE,
    ENVIRONMENTS: home,
    NODE_OPTIONS: `--import ${sdkIn(home)}`,
  };
  const printed: string[] = [];
  const remand = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
      cwd: root,
      env,
      encoding: "utf8",
    });
    printed.push(`$ remand ${args.filter((arg) => !arg.includes(VALUE)).join(" ")}\n${stdout}${stderr}`);
    return { status, said: stdout + stderr };
  };
  return { root, home, env, remand, printed };
}

/** A module that registers an OpenTelemetry SDK whose spans become lines of a file. */
function sdkIn(folder: string): string {
  const [api, sdk] = ["@opentelemetry/api", "@opentelemetry/sdk-trace-base"].map((name) => import.meta.resolve(name));
  const file = join(folder, "otel.mjs");
  writeFileSync(
    file,
    `import { appendFileSync } from "node:fs";
import { trace } from ${JSON.stringify(api)};
import { BasicTracerProvider, SimpleSpanProcessor } from ${JSON.stringify(sdk)};
const exporter = {
  export(spans, done) {
    for (const { name, attributes, events, status } of spans)
      appendFileSync(${JSON.stringify(join(folder, "spans.jsonl"))}, JSON.stringify({ name, attributes, events, status }) + "\\n");
    done({ code: 0 });
  },
  shutdown: async () => {},
};
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
`,
  );
  return file;
}

/** Every file below a folder, as the text that is in it; worktrees hold the project's own files. */
function textsIn(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  const own = paths.filter((path) => !/^(?:worktrees|checkouts?)\//.test(relative(folder, path)));
  return new Map(
    own.map((path) => {
      const bytes = readFileSync(path);
      return [relative(folder, path), (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("latin1")];
    }),
  );
}

function leaksIn(texts: ReadonlyMap<string, string>): string[] {
  return [...texts].flatMap(([name, text]) =>
    Object.entries(FORMS).flatMap(([form, secret]) => {
      const at = text.indexOf(secret);
      return at === -1 ? [] : [`${name} holds the ${form}: …${text.slice(Math.max(0, at - 80), at)}…`];
    }),
  );
}

test("no secret of an agent, a check, a reviewer or a person is stored, printed or sent", { timeout: 120_000 }, () => {
  const { root, home, env, remand, printed } = project();
  const ran = remand("run", "--reporter", "default", "--verbose");
  expect(ran.status, ran.said).toBe(4);
  const message = `call me with ${VALUE} or ${TOKEN}`;
  expect(remand("answer", "give-away", "send-back", "--message", message, "--by", "Ada").said).toContain("Ada");
  // The journal holds this one, as a journal of before may: it became a secret now. Views take it out.
  env["LATE_TOKEN"] = LATE;
  for (const args of [
    ["log", "--json"],
    ["show", "give-away"],
    ["show", "give-away", "--html", "story.html"],
    ["status", "--json"],
    ["inbox"],
    ["brief", "give-away"],
    ["trail", "--rebuild"],
    ["gate", "checks", "--format", "sarif", "--output", "gate.sarif"],
  ])
    remand(...args);
  // An error message that repeats what was typed.
  expect(remand("show", VALUE).status).not.toBe(0);

  // The run did all of it, and it is on record.
  const stored = textsIn(join(root, ".remand"));
  expect([...stored.keys()].some((name) => name.startsWith("journal"))).toBe(true);
  expect([...stored.values()].join("\n")).toContain("[redacted:");
  expect([...stored].some(([name, text]) => name.startsWith("journal") && text.includes(LATE))).toBe(true);
  expect(printed.join("\n")).toMatch(/it prints \[redacted:listed\] and \[redacted:github-token\]/);
  const sent = textsIn(home);
  const outside = ["spans.jsonl", "project/notified.jsonl", "project/story.html", "project/gate.sarif"];
  for (const name of outside) expect(sent.get(name)?.length ?? 0, name).toBeGreaterThan(0);

  expect(
    leaksIn(
      new Map([
        ...stored,
        ...outside.map((name) => [name, sent.get(name)!] as const),
        ...printed.map((text, at) => [`${at}: ${text.slice(0, text.indexOf("\n"))}`, text] as const),
      ]),
    ),
  ).toEqual([]);
  const shown = [...printed.slice(2), sent.get("project/story.html")!];
  expect(shown.filter((text) => text.includes(LATE))).toEqual([]);
  expect(shown.join("\n")).toContain("Accept [redacted:github-token] at [redacted:listed]");
  // The notifier's command is a person's own, and sees the variables that the config names.
  expect(readFileSync(join(root, "notifier-env"), "utf8")).toContain("REMAND_KIND=");

  // Filters of the user and of the agent ran for the engine, and saw none of its secrets.
  for (const name of ["env-user", "env-agent"]) {
    const seen = readFileSync(join(home, name), "utf8").split("\n\n");
    const byEngine = seen.filter((variables) => !variables.includes("BY_AGENT=1"));
    expect(byEngine.length, name).toBeGreaterThan(0);
    expect(byEngine.filter((variables) => /ACME_API_TOKEN|battery/.test(variables))).toEqual([]);
  }
});
