import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { secretValues } from "../../../src/parse/secrets/secret-literals.ts";
import { redactSecrets } from "../../../src/parse/secrets/secrets.ts";

const clean = (text: string, literals: readonly string[] = []): string => redactSecrets(text, { literals }).text;

/** Made up here, out of parts, so that no scanner of repositories takes this file for a leak. */
const chars = (length: number, alphabet = "aB3dE6gH9kL2nP5rS8uV1xY4"): string =>
  Array.from({ length }, (_, i) => alphabet[(i * 7) % alphabet.length]).join("");
const upper = (length: number): string => chars(length, "ABC3EFG7IJK2");

const TOKENS: readonly (readonly [kind: string, secret: string])[] = [
  ["aws-key", `AKIA${upper(16)}`],
  ["aws-key", `ASIA${upper(16)}`],
  ["google-key", `AIza${chars(35)}`],
  ["google-token", `ya29.${chars(60)}`],
  ["github-token", `ghp_${chars(36)}`],
  ["github-token", `ghs_${chars(36)}`],
  ["github-token", `github_pat_${chars(22)}_${chars(59)}`],
  ["gitlab-token", `glpat-${chars(20)}`],
  ["slack-token", `xoxb-${chars(12)}-${chars(24)}`],
  ["slack-webhook", `hooks.slack.com/services/T${upper(8)}/B${upper(8)}/${chars(24)}`],
  ["npm-token", `npm_${chars(36)}`],
  ["pypi-token", `pypi-${chars(60)}`],
  ["openai-key", `sk-${chars(48)}`],
  ["openai-key", `sk-proj-${chars(48)}`],
  ["anthropic-key", `sk-ant-api03-${chars(80)}`],
  ["stripe-key", `sk_live_${chars(24)}`],
  ["huggingface-token", `hf_${chars(34)}`],
  ["sendgrid-key", `SG.${chars(22)}.${chars(43)}`],
  ["digitalocean-token", `dop_v1_${chars(64)}`],
  ["docker-token", `dckr_pat_${chars(27)}`],
  ["shopify-token", `shpat_${chars(32)}`],
  ["linear-key", `lin_api_${chars(40)}`],
  ["age-key", `AGE-SECRET-KEY-1${upper(58)}`],
  ["jwt", `eyJ${chars(30)}.eyJ${chars(60)}.${chars(43)}`],
];

describe("tokens known by their beginning", () => {
  test.each(TOKENS)("%s", (kind, secret) => {
    for (const [before, after] of [
      ["", ""],
      ["key is ", " ok"],
      ['"', '"'],
      ["=", "\n"],
      ["\\n", "\\n"],
      ["\u001b[32m", "\u001b[0m"],
      ["(", ")"],
    ]) {
      const { text } = redactSecrets(`${before}${secret}${after}`);
      expect(text).toBe(`${before}[redacted:${kind}]${after}`);
    }
  });

  test("several in one line are each removed and counted", () => {
    const line = TOKENS.map(([, secret]) => secret).join(" ");
    const { text, counts } = redactSecrets(line);
    expect(text).toBe(TOKENS.map(([kind]) => `[redacted:${kind}]`).join(" "));
    expect(counts["github-token"]).toBe(3);
  });

  test.each([
    "the task-management-system-overview-of-2024 page",
    "npm_config_registry and npm_package_name",
    "AKIA is a prefix; AKIAabc is too short; MAKIAVELLIANTHINKINGOF is a word",
    "sk-learn and sk-this-is-only-a-long-dashed-word-list",
    "eyJ alone, eyJhbGciOiJIUzI1NiJ9 without its other parts, eyJh.x.y",
    "ghp_short, glpat-short, xoxb-1",
    `commit ${chars(40, "0123456789abcdef")}`,
    "sha512-DfWwnfp9t4kCorSWsL0/d9pNvAC6n7kYWs239r325WeRllRg9FlTtVgdzz==",
    "at Object.<anonymous> (/home/me/project/src/token.ts:12:34)",
  ])("other text stays: %s", (text) => {
    expect(clean(text)).toBe(text);
  });
});

describe("private keys", () => {
  const key = (kind: string): string => `-----BEGIN ${kind}-----\n${chars(64)}\n${chars(64)}\n-----END ${kind}-----`;

  test.each([
    "PRIVATE KEY",
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
  ])("%s", (kind) => {
    expect(clean(`before\n${key(kind)}\nafter`)).toBe("before\n[redacted:private-key]\nafter");
    expect(clean(JSON.stringify({ k: key(kind) }))).toBe('{"k":"[redacted:private-key]"}');
  });

  test("with a mark before each line, as a diff has", () => {
    expect(clean(key("PRIVATE KEY").replaceAll("\n", "\n+ "))).toBe("[redacted:private-key]");
  });

  test("whose end was cut off is removed as far as it may reach", () => {
    const [begin, ...rest] = key("RSA PRIVATE KEY").split("\n");
    expect(clean(`${begin}\n${rest[0]}\n... then this`)).toBe("[redacted:private-key]... then this");
    expect(clean(`${begin}\n${rest[0]}\n#${"-".repeat(30_000)}\n-----END`)).toContain("[redacted:private-key]#---");
  });

  test("a public key stays", () => {
    expect(clean(key("PUBLIC KEY"))).toBe(key("PUBLIC KEY"));
    expect(clean(key("CERTIFICATE"))).toBe(key("CERTIFICATE"));
  });
});

describe("secrets after a name, a header or in a URL", () => {
  test.each([
    ["password=hunter2", "password=[redacted:password]"],
    ["DB_PASSWORD=hunter2 next", "DB_PASSWORD=[redacted:password] next"],
    ["PASSWORD=123456", "PASSWORD=[redacted:password]"],
    ["password: hunter2", "password: [redacted:password]"],
    ["password: correcthorse\n", "password: [redacted:password]\n"],
    ['"password": "x"', '"password": "[redacted:password]"'],
    ['{\\"password\\":\\"hunter2\\",\\"a\\":1}', '{\\"password\\":\\"[redacted:password]\\",\\"a\\":1}'],
    [`pwd = 'a"b\\'c' end`, "pwd = '[redacted:password]' end"],
    ['passphrase: "correct horse battery staple"', 'passphrase: "[redacted:password]"'],
    ["'token' => 'abc123def'", "'token' => '[redacted:token]'"],
    ["token: abc123def", "token: [redacted:token]"],
    ["export API_KEY=abcdefgh", "export API_KEY=[redacted:key]"],
    ["apiKey: 'abcd-efgh',", "apiKey: '[redacted:key]',"],
    ["aws_secret_access_key = abc/def+123", "aws_secret_access_key = [redacted:key]"],
    ["client_secret=abcdef&x=1", "client_secret=[redacted:secret]&x=1"],
    ["https://x.test/?access_token=abcdef12#top", "https://x.test/?access_token=[redacted:token]"],
    ["AccountKey=abc123==;Endpoint", "AccountKey=[redacted:key];Endpoint"],
    ["mysql --password hunter2 db", "mysql --password [redacted:password] db"],
    ["cli --github-token 'abcd1234'", "cli --github-token '[redacted:token]'"],
    ["Authorization: Bearer abcdefgh12345", "Authorization: Bearer [redacted:authorization]"],
    ["authorization: Basic dXNlcjpwYXNz", "authorization: Basic dXNlcjpwYXNz"],
    ["authorization: Basic dXNlcjpwYXNzMQ==", "authorization: Basic [redacted:authorization]"],
    ["curl -H 'Authorization: token abc123def'", "curl -H 'Authorization: token [redacted:authorization]'"],
    ["sent bearer abcdef123456.", "sent bearer [redacted:bearer]"],
    ["postgres://me:s3cret@db:5432/x", "postgres://me:[redacted:url-password]@db:5432/x"],
    ["https://me:p@ss@host/", "https://me:[redacted:url-password]@host/"],
    ["https://abcdefghij0123456789@host/", "https://[redacted:url-password]@host/"],
  ])("%s", (text, expected) => {
    expect(clean(text)).toBe(expected);
  });

  test.each([
    "token: string",
    "password: string;",
    "password: string\n",
    "password: required\n",
    "function login(password: Password, token: Token) {}",
    "const token = getToken();",
    "const token = await read(file)",
    "token = config.token",
    "login(password=password, token=settings.TOKEN)",
    "password = None",
    "PASSWORD=$PASSWORD TOKEN=${TOKEN} SECRET=<secret>",
    "password=********",
    "if (token === expected) return;",
    "tokens: 12345, token: 123",
    "max_token=4096",
    "secret => { use(secret); }",
    'throw new Error("password: must not be empty")',
    "expected token: ) but got ;",
    "Bearer authentication is required",
    "https://example.com:8080/path@2x.png",
    "https://me@example.com/",
    "git@github.com:owner/name.git",
    "ssh://git@github.com/owner/name.git",
    "process.env.API_KEY = process.env.OTHER_KEY",
    "the one-time-password is required",
    "--password-file path/to/file",
    "a :// b",
  ])("stays: %s", (text) => {
    expect(clean(text)).toBe(text);
  });
});

describe("listed texts", () => {
  test("are removed anywhere, also as JSON and URLs write them", () => {
    const secret = 'pa"ss wörd/1';
    const text = [secret, JSON.stringify({ a: secret }), encodeURIComponent(secret)].join("\n");
    const mark = "[redacted:listed]";
    expect(clean(text, [secret])).toBe(`${mark}\n{"a":"${mark}"}\n${mark}`);
  });

  test("are removed if two overlap, or one contains the other", () => {
    expect(clean("xabcdefx", ["abcd", "cdef"])).toBe("x[redacted:listed]x");
    expect(clean("abcdabcdabcd", ["abcdabcd"])).toBe("[redacted:listed]");
    expect(clean("xabcdefghx", ["abcdefgh", "cdef"])).toBe("x[redacted:listed]x");
  });

  test("are also removed line by line", () => {
    const key = `${chars(40)}\n${chars(30)}`;
    expect(clean(`> ${chars(40)}\n> ${chars(30)}`, [key])).toBe("> [redacted:listed]\n> [redacted:listed]");
  });

  test("are also removed if a redaction forms one", () => {
    expect(clean("aaaabb", ["aaaa", "d]bb"])).not.toContain("d]bb");
  });

  test("of fewer than four characters are ignored", () => {
    expect(clean("abc abc", ["abc"])).toBe("abc abc");
  });

  test("no listed text is left in any text", () => {
    const literal = fc.string({
      minLength: 4,
      maxLength: 12,
      unit: fc.constantFrom("a", "b", "[", "]", ":", "d", "l", '"', "\\", "é"),
    });
    const parts = fc.array(fc.oneof(literal, fc.string({ maxLength: 5 })), { maxLength: 12 });
    fc.assert(
      fc.property(
        fc.array(literal, { minLength: 1, maxLength: 4 }),
        parts,
        fc.array(fc.nat(), { maxLength: 12 }),
        (literals, words, picks) => {
          const listed = literals.filter((each) => !"[redacted:listed]".includes(each));
          const text = [...words, ...picks.map((pick) => literals[pick % literals.length]!)].join("");
          const out = clean(text, literals);
          for (const each of listed) expect(out.includes(each)).toBe(false);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("include values of an environment that are secrets", () => {
    const values = secretValues({
      NODE_ENV: "production",
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin",
      DB_PASSWORD: "hunter2",
      TOKEN: "true",
      PIN_SECRET: "12",
      HOST: "db-1.internal.example.com",
      STRIPE: "abcdef0123456789ABCDEF",
      LONG_WORD: "supercalifragilisticexpialidocious",
      GREETING: "good morning 12345 everybody",
    });
    expect(values).toEqual(["hunter2", "abcdef0123456789ABCDEF"]);
  });
});

describe("a person's own patterns", () => {
  test("are applied everywhere, and an empty match does not count", () => {
    const patterns = [
      { kind: "ticket", pattern: /ACME-\d+/ },
      { kind: "nothing", pattern: /z*/g },
    ];
    const { text, counts } = redactSecrets("ACME-1 and ACME-22", { patterns });
    expect(text).toBe("[redacted:ticket] and [redacted:ticket]");
    expect(counts).toEqual({ ticket: 2 });
  });
});

describe("the whole redactor", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...TOKENS.map(([, secret]) => secret),
      "password=",
      "token: ",
      '"',
      "'",
      "\\",
      "\n",
      "://",
      "@",
      ":",
      "Bearer ",
      "Authorization: ",
      "--token ",
      "-----BEGIN PRIVATE KEY-----",
      "-----END PRIVATE KEY-----",
      "[redacted:jwt]",
    ),
    fc.string({ maxLength: 8 }),
  );

  test("lets no known token through, and leaves clean text unchanged", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const once = clean(pieces.join(" "));
        for (const [, secret] of TOKENS) expect(once.includes(secret)).toBe(false);
        expect(clean(once)).toBe(once);
        expect(() => clean(pieces.join(""))).not.toThrow();
      }),
      { numRuns: 3000 },
    );
  });

  test("ordinary text stays byte for byte", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            "expected",
            "1",
            "to",
            "equal",
            "2",
            "at",
            "src/a.ts:3:4",
            "✓",
            "(5 ms)",
            "\n",
            "{",
            "}",
            "=>",
            "€",
          ),
          { maxLength: 50 },
        ),
        (words) => {
          const text = words.join(" ");
          expect(clean(text)).toBe(text);
        },
      ),
    );
  });
});
