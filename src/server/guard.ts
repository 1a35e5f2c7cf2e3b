import { timingSafeEqual, createHash } from "node:crypto";
import type { MiddlewareHandler } from "hono";

export interface GuardOptions {
  /** The hashes of the tokens that are accepted. */
  readonly tokens: readonly string[];
  /** The port of the server, which is known only once it listens. */
  port(): number;
}

/**
 * Rejects requests without a valid host, origin and token. A page of another site can make a browser send requests
 * here, and can point its own host name here (DNS rebinding): both fail the check of names, and neither knows the
 * token. The token is in a header, never in a cookie, which browsers would also send to other servers on this machine.
 */
export function guard({ tokens, port }: GuardOptions): MiddlewareHandler {
  return async (c, next) => {
    const names = [`127.0.0.1:${port()}`, `localhost:${port()}`];
    if (!names.includes(c.req.header("host") ?? ""))
      return c.json({ error: "this server answers to 127.0.0.1 and localhost only", hint: `Open ${names[0]}.` }, 421);
    const origin = c.req.header("origin");
    const isForeign = origin !== undefined && !names.some((name) => origin === `http://${name}`);
    const site = c.req.header("sec-fetch-site") ?? "none";
    const isApi = c.req.path.startsWith("/api/");
    if (isForeign || (isApi && site !== "none" && site !== "same-origin"))
      return c.json({ error: "another site's page may not ask here", hint: "" }, 403);
    if (isApi && !isToken(c.req.header("authorization"), tokens))
      return c.json(
        { error: "the token is missing or wrong", hint: "Open the address that remand serve printed." },
        401,
      );
    return next();
  };
}

/** Compares hashes, so that the time of the comparison reveals nothing. */
function isToken(header: string | undefined, tokens: readonly string[]): boolean {
  const given = /^Bearer (.+)$/.exec(header ?? "")?.[1];
  if (given === undefined) return false;
  const hash = Buffer.from(tokenHash(given));
  return tokens.filter((known) => timingSafeEqual(hash, Buffer.from(known))).length > 0;
}

/** The stored form of a token, by which it can be recognized. */
export const tokenHash = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Headers of every response: nothing is loaded from other sites, and inline scripts are off. */
export function headers(): MiddlewareHandler {
  return async (c, next) => {
    await next();
    for (const [name, value] of HEADERS) c.header(name, value);
    c.header("cache-control", "no-store");
  };
}

const HEADERS: readonly (readonly [name: string, value: string])[] = [
  [
    "content-security-policy",
    [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join("; "),
  ],
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "DENY"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-opener-policy", "same-origin"],
  ["cross-origin-resource-policy", "same-origin"],
  ["permissions-policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()"],
];
