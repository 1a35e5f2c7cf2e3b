import { RemandError } from "../../domain/error.ts";

/** Where a fleet's database is. */
export interface Address {
  /** For the driver: with user and password, without what is ours. It is never printed. */
  readonly url: string;
  /** One database can hold several projects, each in a schema of its own. */
  readonly schema: string;
  /** For people: without user and password. */
  readonly where: string;
}

const DEFAULT_SCHEMA = "remand";

/** Short and plain, so that nobody has to quote it and it fits into the name of a channel. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,47}$/;

const isPostgresUrl = (text: string): boolean => /^postgres(?:ql)?:\/\//.test(text);

/** Takes an address apart. What is wrong with it is said without repeating it: there may be a password in it. */
export function readAddress(text: string): Address {
  if (!isPostgresUrl(text)) throw wrong("it does not begin with postgres://");
  let url: URL;
  try {
    // No cause: the system's own message repeats the whole address.
    url = new URL(text);
  } catch {
    throw wrong("it is no URL; a password with / # ? or @ in it must be percent-encoded");
  }
  const schema = url.searchParams.get("schema") ?? DEFAULT_SCHEMA;
  if (!SCHEMA.test(schema))
    throw wrong(`its schema must be a plain name, in lower case and of at most 48 letters, digits and _`);
  url.searchParams.delete("schema");
  const host = url.searchParams.get("host") ?? (url.hostname === "" ? "localhost" : url.hostname);
  const port = url.port === "" ? "" : `:${url.port}`;
  const ours = schema === DEFAULT_SCHEMA ? "" : `?schema=${schema}`;
  return { url: url.href, schema, where: `postgres://${host}${port}${url.pathname}${ours}` };
}

function wrong(why: string): RemandError {
  return new RemandError(
    "usage",
    `the address of the database cannot be used: ${why}`,
    "Write it as postgres://user:password@host:5432/database, or with ?schema=name at the end.",
  );
}
