/** A reporter for `node --test`: prints the same as Node itself, and reports each test by name. */
import { Readable } from "node:stream";
import * as reporters from "node:test/reporters";
import report from "./report.cjs";

const folder = process.env.NODE_TEST_CONTEXT ? null : report.takeFolder();

export default async function* (source) {
  const seen = folder === null ? source : reported(source, report.openReport(folder, "node:test"));
  if (process.env.REMAND_TEST_NAMES_ONLY) {
    for await (const _ of seen);
  } else if (isSpec()) yield* Readable.from(seen).compose(new reporters.spec());
  else yield* reporters.tap(seen);
}

/** Whether Node would print `spec`: on a terminal always; otherwise from version 23 on, and TAP before. */
const isSpec = () => process.stdout.isTTY || Number(process.versions.node.split(".")[0]) >= 23;

async function* reported(source, file) {
  const titles = [];
  for await (const event of source) {
    const { type, data } = event;
    if (type === "test:start") titles.splice(data.nesting, Infinity, data.name);
    else if (type === "test:pass" || type === "test:fail") noteTest(type, data, titles, file);
    yield event;
  }
  file.end();
}

function noteTest(type, data, titles, file) {
  const { name, nesting, details, skip, todo } = data;
  const error = details?.error;
  const where = data.file === undefined ? {} : { file: data.file };
  if (type === "test:fail" && nesting === 0 && isWholeFile(name, data.file, error))
    return file.test("not-loaded", { file: data.file ?? name });
  if (details?.type === "suite" && (type === "test:pass" || error?.failureType === "subtestsFailed")) return;
  const isLeft = skip !== undefined || todo !== undefined;
  const outcome = isLeft ? "skipped" : type === "test:pass" ? "passed" : "failed";
  file.test(outcome, where, [...titles.slice(0, nesting), name].join(" > "));
}

/** Whether this is a whole file, which has its path as its name if it failed outside of its tests. */
const isWholeFile = (name, file, error) =>
  error?.exitCode !== undefined || (file !== undefined && (name === file || file.endsWith(`/${name}`)));
