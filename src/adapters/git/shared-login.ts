import type { Environment } from "../process/environment.ts";

/** An address without its login, and how git is told the login where the remote asks for it. */
export interface Login {
  readonly address: string;
  readonly settings: readonly string[];
  readonly env: Environment;
  /** A text as it may be shown: git repeats addresses, and servers repeat what they were sent. */
  hidden(text: string): string;
}

/**
 * Takes a login out of an address. In the address it would stand in the clone's configuration, where every agent that
 * works there can read it, and in the command line of git's own helpers; so git is told it through its environment.
 */
export function loginOf(remote: string): Login {
  const [, scheme, login, rest] = /^(https?:\/\/)([^/@]*)@(.*)$/is.exec(remote) ?? [];
  if (scheme === undefined || login === undefined)
    return { address: remote, settings: [], env: {}, hidden: withoutLogin };
  const colon = login.indexOf(":");
  const username = decoded(colon === -1 ? login : login.slice(0, colon));
  const password = colon === -1 ? "" : decoded(login.slice(colon + 1));
  // A token is often given as the name, so that is a secret too; a short name is a word that texts are made of.
  const secrets = [login, password, username].filter((secret) => secret.length >= LEAST_SECRET);
  return {
    address: `${scheme}${rest}`,
    settings: [`${helperOf(scheme, rest!)}=`, `${helperOf(scheme, rest!)}=${HELPER}`],
    env: { REMAND_GIT_USERNAME: username, REMAND_GIT_PASSWORD: password },
    hidden: (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), withoutLogin(text)),
  };
}

const HELPER =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$REMAND_GIT_USERNAME" "$REMAND_GIT_PASSWORD"; }; f';

/**
 * For that server alone: nobody else it might lead to is told. Given twice, because the empty one clears the list: a
 * helper of the machine's owner must not be asked, nor told this login.
 */
const helperOf = (scheme: string, rest: string): string =>
  `credential.${scheme.toLowerCase()}${rest.split("/")[0]}.helper`;

const LEAST_SECRET = 8;

const withoutLogin = (text: string): string => text.replaceAll(/(\w+:\/\/)[^\s/@]+@/g, "$1");

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
