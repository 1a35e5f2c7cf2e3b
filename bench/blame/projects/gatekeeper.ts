/* oxlint-disable max-lines -- the texts of a project, whole */
import type { Project } from "../projects.ts";

export const gatekeeper: Project = {
  name: "gatekeeper",
  files: {
    "package.json": `{\n  "name": "gatekeeper",\n  "version": "0.9.0",\n  "type": "module"\n}\n`,
    "README.md": `# Gatekeeper\n\nSessions, roles and limits.\n`,
    "config/roles.json": `{\n  "reader": ["read"],\n  "writer": ["read", "write"],\n  "owner": ["read", "write", "delete", "share"]\n}\n`,
    "config/limits.json": `{\n  "perMinute": 3,\n  "sessionSeconds": 600,\n  "tokenLength": 12,\n  "attempts": 3\n}\n`,
    "src/settings.js": `import { readFileSync } from "node:fs";

const read = (name) => JSON.parse(readFileSync(new URL("../config/" + name, import.meta.url), "utf8"));

export const roles = read("roles.json");
export const limits = read("limits.json");

export function setting(name, fallback) {
  return limits[name] ?? fallback;
}
`,
    "src/tokens.js": `import { setting } from "./settings.js";

const LETTERS = "abcdefghijkmnpqrstuvwxyz23456789";

export function checksum(text) {
  let sum = 7;
  for (const char of text) sum = (sum * 31 + char.codePointAt(0)) % 9973;
  return sum;
}

export function token(seed) {
  let value = seed;
  let text = "";
  while (text.length < setting("tokenLength", 16)) {
    value = (value * 1103515245 + 12345) % 2147483648;
    text += LETTERS[value % LETTERS.length];
  }
  return text + "." + checksum(text);
}

export function isToken(text) {
  if (typeof text !== "string") return false;
  const [body, sum] = text.split(".");
  return body.length === setting("tokenLength", 16) && Number(sum) === checksum(body);
}
`,
    "src/sessions.js": `import { setting } from "./settings.js";
import { isToken, token } from "./tokens.js";

export class Sessions {
  #open = new Map();
  #count = 0;

  async begin(user, now) {
    const key = token(++this.#count);
    this.#open.set(key, { user, role: user.role ?? "reader", until: now + setting("sessionSeconds", 60) });
    return key;
  }

  async find(key, now) {
    if (!isToken(key)) return null;
    const session = this.#open.get(key);
    if (session === undefined) return null;
    if (session.until <= now) {
      this.#open.delete(key);
      return null;
    }
    return session;
  }

  async extend(key, now) {
    const session = await this.find(key, now);
    if (session === null) return false;
    session.until = now + setting("sessionSeconds", 60);
    return true;
  }

  end(key) {
    return this.#open.delete(key);
  }
}
`,
    "src/access.js": `import { roles } from "./settings.js";

export function allowed(role) {
  return roles[role] ?? [];
}

export function may(session, action, thing = {}) {
  if (session === null) return false;
  if (thing.owner === session.user.name) return true;
  if (thing.private && session.role !== "owner") return false;
  return allowed(session.role).includes(action);
}

export function reasonAgainst(session, action, thing) {
  if (session === null) return "not signed in";
  return may(session, action, thing) ? null : session.role + " may not " + action;
}
`,
    "src/limiter.js": `import { setting } from "./settings.js";

const WINDOW = 60;

export class Limiter {
  #seen = new Map();

  take(name, now) {
    const recent = (this.#seen.get(name) ?? []).filter((time) => time > now - WINDOW);
    if (recent.length >= setting("perMinute", 10)) return false;
    recent.push(now);
    this.#seen.set(name, recent);
    return true;
  }

  waitFor(name, now) {
    const recent = (this.#seen.get(name) ?? []).filter((time) => time > now - WINDOW);
    if (recent.length < setting("perMinute", 10)) return 0;
    return recent[0] + WINDOW - now;
  }
}
`,
    "src/users.js": `import { setting } from "./settings.js";

export class Users {
  #byName = new Map();

  add(name, secret, role) {
    const clean = name.trim().toLowerCase();
    if (clean === "") throw new TypeError("a user needs a name");
    if (this.#byName.has(clean)) throw new Error("taken: " + clean);
    this.#byName.set(clean, { name: clean, secret, role, failed: 0 });
  }

  async check(name, secret) {
    const user = this.#byName.get(name.trim().toLowerCase());
    if (user === undefined) return null;
    if (user.failed >= setting("attempts", 5)) return null;
    if (user.secret !== secret) {
      user.failed++;
      return null;
    }
    user.failed = 0;
    return user;
  }
}
`,
    "src/audit.js": `const KEPT = 100;

export class Audit {
  entries = [];

  note(time, who, what, ok) {
    this.entries.push({ time, who, what, ok });
    if (this.entries.length > KEPT) this.entries.shift();
  }

  failures(since = 0) {
    return this.entries.filter((entry) => !entry.ok && entry.time >= since).length;
  }

  summary() {
    const counts = {};
    for (const { what } of this.entries) counts[what] = (counts[what] ?? 0) + 1;
    return Object.keys(counts).sort().map((what) => what + ":" + counts[what]).join(" ");
  }
}
`,
    "src/server.js": `import { may, reasonAgainst } from "./access.js";
import { Audit } from "./audit.js";
import { Limiter } from "./limiter.js";
import { Sessions } from "./sessions.js";
import { Users } from "./users.js";

export class Server {
  users = new Users();
  audit = new Audit();
  #sessions = new Sessions();
  #limiter = new Limiter();

  async signIn(name, secret, now) {
    if (!this.#limiter.take(name, now)) return { status: 429, wait: this.#limiter.waitFor(name, now) };
    const user = await this.users.check(name, secret);
    this.audit.note(now, name, "sign-in", user !== null);
    if (user === null) return { status: 401 };
    return { status: 200, key: await this.#sessions.begin(user, now) };
  }

  async handle(request, now) {
    const session = await this.#sessions.find(request.key, now);
    const ok = may(session, request.action, request.thing);
    this.audit.note(now, session?.user.name ?? "?", request.action, ok);
    if (session === null) return { status: 401, reason: reasonAgainst(session, request.action, request.thing) };
    if (!ok) return { status: 403, reason: reasonAgainst(session, request.action, request.thing) };
    await this.#sessions.extend(request.key, now);
    return { status: 200 };
  }
}
`,
    "test/tokens.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { checksum, isToken, token } from "../src/tokens.js";

test("tokens have a length and a sum", () => {
  const made = token(5);
  assert.equal(made.split(".")[0].length, 12);
  assert.equal(isToken(made), true);
  assert.equal(isToken("x" + made.slice(1)), false);
  assert.equal(isToken(7), false);
});

test("sums differ", () => {
  assert.notEqual(checksum("ab"), checksum("ba"));
  assert.equal(checksum(""), 7);
});
`,
    "test/access.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { allowed, may, reasonAgainst } from "../src/access.js";

const session = (role, name = "ann") => ({ role, user: { name } });

test("roles allow more and more", () => {
  assert.deepEqual(allowed("writer"), ["read", "write"]);
  assert.equal(may(session("reader"), "write"), false);
  assert.equal(may(session("owner"), "delete"), true);
  assert.equal(may(null, "read"), false);
});

test("what is one's own is open", () => {
  assert.equal(may(session("reader"), "delete", { owner: "ann" }), true);
});

test("what is private is closed", () => {
  assert.equal(may(session("writer"), "read", { private: true }), false);
  assert.equal(may(session("owner"), "read", { private: true }), true);
});

test("reasons are told", () => {
  assert.equal(reasonAgainst(null, "read"), "not signed in");
  assert.equal(reasonAgainst(session("reader"), "write"), "reader may not write");
  assert.equal(reasonAgainst(session("reader"), "read"), null);
});
`,
    "test/limits.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { Audit } from "../src/audit.js";
import { Limiter } from "../src/limiter.js";

test("three in a minute", () => {
  const limiter = new Limiter();
  assert.deepEqual([0, 10, 20, 30].map((now) => limiter.take("ann", now)), [true, true, true, false]);
  assert.equal(limiter.waitFor("ann", 30), 30);
  assert.equal(limiter.take("ann", 61), true);
  assert.equal(limiter.waitFor("bob", 30), 0);
});

test("the audit counts", () => {
  const audit = new Audit();
  audit.note(1, "ann", "read", true);
  audit.note(2, "ann", "write", false);
  audit.note(3, "bob", "read", false);
  assert.equal(audit.summary(), "read:2 write:1");
  assert.equal(audit.failures(), 2);
  assert.equal(audit.failures(3), 1);
});

test("the audit forgets", () => {
  const audit = new Audit();
  for (let time = 0; time < 150; time++) audit.note(time, "ann", "read", true);
  assert.equal(audit.entries.length, 100);
});
`,
    "test/server.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { Server } from "../src/server.js";

async function started() {
  const server = new Server();
  server.users.add("Ann ", "s3cret", "writer");
  const { key } = await server.signIn("ann", "s3cret", 0);
  return { server, key };
}

test("signing in opens what the role allows", async () => {
  const { server, key } = await started();
  assert.deepEqual(await server.handle({ key, action: "write" }, 1), { status: 200 });
  assert.equal((await server.handle({ key, action: "share" }, 2)).status, 403);
});

test("a wrong secret is refused and noted", async () => {
  const { server } = await started();
  assert.equal((await server.signIn("ann", "wrong", 1)).status, 401);
  assert.equal(server.audit.failures(), 1);
});

test("sessions end, and work keeps them open", async () => {
  const { server, key } = await started();
  assert.equal((await server.handle({ key, action: "read" }, 500)).status, 200);
  assert.equal((await server.handle({ key, action: "read" }, 1000)).status, 200);
  assert.equal((await server.handle({ key, action: "read" }, 1600)).status, 401);
});

test("too many attempts are slowed down", async () => {
  const { server } = await started();
  await server.signIn("ann", "a", 1);
  await server.signIn("ann", "b", 2);
  assert.deepEqual(await server.signIn("ann", "s3cret", 3), { status: 429, wait: 57 });
});

test("attempts run out", async () => {
  const { server } = await started();
  for (const time of [100, 200, 300]) await server.signIn("ann", "bad", time);
  assert.equal((await server.signIn("ann", "s3cret", 400)).status, 401);
});

test("names are unique", async () => {
  const { server } = await started();
  assert.throws(() => server.users.add("ANN", "x"), /taken: ann/);
  assert.throws(() => server.users.add("  ", "x"), TypeError);
});
`,
  },
};
