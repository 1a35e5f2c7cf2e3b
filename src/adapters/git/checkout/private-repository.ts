import { appendFile, copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Git } from "../git.ts";
import { trimLine, type Repository } from "../repository.ts";

/** The user's git settings that affect the files in a checkout, from the time they were read. */
export interface CheckoutSettings {
  /** Lines for a config file. */
  readonly config: string;
  /** The text of `.git/info/attributes`. */
  readonly attributes: string;
  /** The text of the user's own attributes file. */
  readonly userAttributes: string;
  readonly objectFormat: string;
}

/**
 * Settings of how files are written (line ends, links, filters, large files) and how missing objects are fetched, and
 * the identity for checks that commit. No other setting of the repository is copied.
 */
const TAKEN_OVER =
  /^(?:core\.(?:autocrlf|eol|filemode|ignorecase|precomposeunicode|symlinks|longpaths|sshcommand)|user\.(?:name|email)|extensions\.partialclone|(?:filter|lfs|remote|url|credential|http)\..+)$/i;

/** Reads the settings. Read once, before an agent works, so that a filter added to the config later has no effect. */
export async function readCheckoutSettings({ git, commonDir, env }: Repository): Promise<CheckoutSettings> {
  const listed = (await git.run(["config", "--list", "-z"])).split("\0");
  const lastOf = (key: string): string | undefined =>
    listed.findLast((entry) => entry.toLowerCase().startsWith(`${key}\n`))?.slice(key.length + 1);
  const named =
    lastOf("core.attributesfile") === undefined
      ? ""
      : trimLine((await git.ask(["config", "--type=path", "core.attributesFile"])).stdout);
  const userFolder = env["XDG_CONFIG_HOME"] || join(env["HOME"] || homedir(), ".config");
  return {
    config: listed.map(configText).join(""),
    attributes: await textOf(join(commonDir, "info", "attributes")),
    userAttributes: await textOf(named === "" ? join(userFolder, "git", "attributes") : named),
    objectFormat: lastOf("extensions.objectformat") ?? "sha1",
  };
}

/** Returns one entry of `git config --list -z` in the form of a config file; empty if the setting is not copied. */
function configText(entry: string): string {
  const at = entry.indexOf("\n");
  const key = at === -1 ? entry : entry.slice(0, at);
  const [section, name] = [key.slice(0, key.indexOf(".")), key.slice(key.lastIndexOf(".") + 1)];
  if (!TAKEN_OVER.test(key)) return "";
  const between = key.slice(section.length + 1, -name.length - 1);
  const head = between === "" ? `[${section}]` : `[${section} ${quoteForGit(between)}]`;
  // A key without a value means true, which differs from an empty value.
  return at === -1 ? `${head}\n\t${name}\n` : `${head}\n\t${name} = ${quoteForGit(entry.slice(at + 1))}\n`;
}

const quoteForGit = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("\t", "\\t")}"`;

/**
 * Makes a repository in `path`, at a commit and with the files of a tree. It reads the main repository's objects and
 * has copies of its branches and tags, so that tools that ask git for a version work. A check that moves a branch moves
 * only the copy.
 */
export async function makePrivateRepository(
  repository: Repository,
  path: string,
  { commit, tree }: { readonly commit: string | null; readonly tree: string },
  settings: CheckoutSettings,
): Promise<Git> {
  const own = repository.gitIn(path);
  const folder = join(path, ".git");
  await mkdir(path, { recursive: true, mode: 0o700 });
  const format = settings.objectFormat === "sha1" ? [] : [`--object-format=${settings.objectFormat}`];
  await own.run(["init", "--quiet", "--template=", ...format]);
  await mkdir(join(folder, "info"), { recursive: true });
  await mkdir(join(folder, "objects", "info"), { recursive: true });
  await writeFile(join(folder, "objects", "info", "alternates"), `${join(repository.commonDir, "objects")}\n`);
  await copyFile(join(repository.commonDir, "shallow"), join(folder, "shallow")).catch(unlessMissing);
  if (settings.attributes !== "") await writeFile(join(folder, "info", "attributes"), settings.attributes);
  await writeFile(join(folder, "info", "user-attributes"), settings.userAttributes);
  await appendFile(join(folder, "config"), `${settings.config}${LINKED_FILES}`);
  await nameOwnPath(path);
  await setRefs(path, await readRefs(repository.git), commit);
  await own.run(["read-tree", "--reset", "-u", tree], { timeoutMs: 600_000 });
  return own;
}

/**
 * Pristine checkouts share files by hard links, and each new link changes the ctime that git compares: git would report
 * all files as changed to a check that does not refresh the index.
 */
const LINKED_FILES = "[core]\n\ttrustctime = false\n";

/** Appends the full path of the user's attributes file to the config. In a copied repository, the last entry wins. */
export async function nameOwnPath(path: string): Promise<void> {
  const attributes = join(path, ".git", "info", "user-attributes");
  await appendFile(join(path, ".git", "config"), `[core]\n\tattributesFile = ${quoteForGit(attributes)}\n`);
}

/** Gives a repository the branches and tags of another, and HEAD at a commit. */
export async function setRefs(path: string, refs: string, commit: string | null): Promise<void> {
  await writeFile(join(path, ".git", "packed-refs"), refs);
  if (commit !== null) await writeFile(join(path, ".git", "HEAD"), `${commit}\n`);
}

/**
 * Returns the branches and tags of a repository, as the text of `packed-refs`. Branches of stories are left out: they
 * are internal, and their number grows.
 */
export async function readRefs(git: Git): Promise<string> {
  const args = ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags", "refs/remotes"];
  const refs = (await git.run(args)).split("\n").filter((each) => each !== "");
  const kept = refs.filter((each) => !/^\S+ refs\/heads\/remand\//.test(each));
  return ["# pack-refs with: sorted ", ...kept, ""].join("\n");
}

async function textOf(file: string): Promise<string> {
  return readFile(file, "utf8").catch((error: unknown) => {
    unlessMissing(error);
    return "";
  });
}

function unlessMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
