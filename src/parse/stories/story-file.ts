import { STORY_ID_PATTERN, type StoryId, roleName, storyId, storyIdFault } from "../../core/events/ids.ts";
import { type Phase, STORY_FOLDERS, type StoryFolder, type Story } from "../../core/stories/story.ts";
import type { SourceLocation, Problem } from "../../core/events/error.ts";
import { markdownLines, lineIndex } from "../../stdx/text-lines.ts";
import { nearMiss } from "../../stdx/plain-text.ts";
import {
  type FieldReader,
  type MarkdownFile,
  fieldReader,
  fileName,
  isOwnKey,
  readMarkdownFile,
} from "../data/front-matter.ts";
import { isRecord } from "../../stdx/assert.ts";
import { readCriteria } from "./story-criteria.ts";

export interface StoryReading {
  /** The story as far as it could be read; `null` if not even its id is certain. */
  readonly story: Story | null;
  readonly problems: readonly Problem[];
}

/** Reads one story file: the front matter of S4.29, and the acceptance criteria in the body. */
export function readStoryFile(path: string, text: string): StoryReading {
  const { story, problems } = readPlacedStory(path, text);
  return { story, problems };
}

/** A story with the location of each dependency, for checks that need all stories. */
export interface PlacedStory extends StoryReading {
  /** The id according to the file's name, which identifies broken files. */
  readonly name: string;
  readonly problems: Problem[];
  /** Returns the lists under keys that are not read. */
  unreadLists(): readonly { readonly key: string; readonly names: readonly string[]; readonly place: SourceLocation }[];
  idPlace(): SourceLocation;
  dependencyPlace(id: string): SourceLocation;
}

/** Refuses a link: it may lead to a file outside the repository, which no branch and no clone has. */
export function refusedLink(path: string): PlacedStory {
  const hint = "Put the file itself in its place (`cp --remove-destination` copies over a link), or remove the link.";
  const place = { file: path, line: 1, column: 1 };
  return {
    story: null,
    problems: [fileProblem(path, "a story cannot be a symbolic link", hint)],
    name: fileName(path),
    unreadLists: () => [],
    idPlace: () => place,
    dependencyPlace: () => place,
  };
}

export function readPlacedStory(path: string, text: string): PlacedStory {
  const file = readMarkdownFile(path, text);
  const problems = [...file.problems];
  const name = fileName(path);
  const story =
    file.fields === null ? null : storyOf(file, fieldReader(file.fields, file.yaml, problems), name, problems);
  return {
    story,
    problems,
    name,
    unreadLists: () => unreadLists(file),
    idPlace: () => file.yaml.valuePlace(["id"]),
    dependencyPlace: (id) => dependencyPlace(file, id),
  };
}

function storyOf(file: MarkdownFile, fields: FieldReader, name: string, problems: Problem[]): Story | null {
  warnOfUnknownKeys(file, fields, problems);
  const id = idOf(file, fields, name, problems);
  // The rest is read even if the id is wrong, so that a person sees every problem at once.
  const maxReworks = fields.integer("max_refinement_attempts", 0, 9);
  const role = fields.text("role");
  const target = testPatterns(fields, "target", "a target is empty");
  const tests = testPatterns(fields, "tests", "an entry of tests is empty");
  const oracle = oracleOf(fields, file.fields?.["oracle"]);
  const branch = fields.text("branch")?.trim() ?? "";
  const body = file.text.slice(file.bodyStart);
  checkRecords(fields);
  const story = {
    title: fields.text("title")?.replaceAll(/\s+/g, " ").trim() || firstHeading(body) || (id ?? name),
    priority: fields.integer("priority", 0, 1_000_000) ?? DEFAULT_PRIORITY,
    kind: fields.text("type") ?? "feature",
    labels: fields.texts("labels") ?? [],
    dependsOn: dependencies(fields),
    criteria: withExcuses(criteriaOf(file, problems), fields, file.fields?.["excused"]),
    shelf: folderOf(fields),
    body,
    completed: completedPhases(fields),
    ...(maxReworks === undefined ? {} : { maxReworks }),
    ...(role === undefined ? {} : { role: roleName(role) }),
    ...(target.length === 0 ? {} : { target }),
    ...(tests.length === 0 ? {} : { tests }),
    ...(oracle === null ? {} : { oracle }),
    ...(branch === "" ? {} : { branch }),
  };
  return id === null ? null : { id, ...story };
}

/** Stories without a priority come after those with one. */
const DEFAULT_PRIORITY = 100;

const DEPENDENCY_KEYS = ["depends_on", "dependsOn", "dependencies"] as const;
const RECORD_TEXTS = ["created", "updated", "last_error"] as const;
const FLAGS = {
  refinement_complete: "refine",
  research_complete: "research",
  plan_complete: "plan",
  implementation_complete: "implement",
} as const satisfies Readonly<Record<string, Phase>>;

/** The keys that people write. */
const WRITTEN_KEYS = [
  "id",
  "title",
  "priority",
  "status",
  "type",
  "labels",
  "role",
  "depends_on",
  "target",
  "tests",
  "max_refinement_attempts",
  "branch",
  "oracle",
  "excused",
] as const;

const KNOWN_KEYS: readonly string[] = [
  ...WRITTEN_KEYS,
  "refinement_iterations",
  "refinement_count",
  "reviews_complete",
  ...RECORD_TEXTS,
  ...Object.keys(FLAGS),
  ...DEPENDENCY_KEYS,
];

/** Warnings, not errors, because stories of other tools may have their own keys. */
function warnOfUnknownKeys({ yaml }: MarkdownFile, fields: FieldReader, problems: Problem[]): void {
  const hint = `Known keys: ${WRITTEN_KEYS.join(", ")}. A key of your own begins with "x-".`;
  for (const key of fields.unknownKeys(KNOWN_KEYS))
    problems.push({
      ...yaml.keyPlace([key]),
      severity: "warning",
      message: `unknown key "${shorten(key)}": it is not read`,
      hint,
    });
}

function idOf(file: MarkdownFile, fields: FieldReader, name: string, problems: Problem[]): StoryId | null {
  const given = fields.text("id");
  const id = given ?? name;
  const fault = storyIdFault(id);
  if (fault === null) return storyId(id);
  const why = `cannot be a story's id: ${fault}`;
  if (given !== undefined) fields.complain("id", `"${shorten(id)}" ${why}`, ID_HINT);
  else {
    const message = `the file's name "${shorten(id)}" ${why}`;
    problems.push(fileProblem(file.file, message, `Rename the file, or give the story an \`id\`. ${ID_HINT}`));
  }
  return null;
}

const ID_HINT = "Use at most 100 letters, digits, `.`, `_` and `-`, such as `checkout-retry`.";

function fileProblem(file: string, message: string, hint: string): Problem {
  return { file, line: 1, column: 1, severity: "error", message, hint };
}

function folderOf(fields: FieldReader): StoryFolder {
  const status = fields.text("status");
  // A story without a status is ready: a person added it to be done.
  if (status === undefined) return "ready";
  const folder = STORY_FOLDERS.find((known) => known === status.trim().toLowerCase().replaceAll(/[ _]/g, "-"));
  if (folder !== undefined) return folder;
  const meant = nearMiss(status, STORY_FOLDERS);
  const hint = meant === undefined ? `Write one of ${STORY_FOLDERS.join(", ")}.` : `did you mean "${meant}"?`;
  fields.complain("status", `"${shorten(status)}" is not a status`, hint);
  return "backlog";
}

/** Reads tests by name, file or pattern: those that fail now and must pass, or those that the work may change. */
function testPatterns(fields: FieldReader, key: "target" | "tests", whenEmpty: string): string[] {
  return (fields.texts(key) ?? []).flatMap((text, index) => {
    if (text.trim() !== "") return [text.trim()];
    fields.complain(key, whenEmpty, "Write the name of a test, its file, or a pattern.", index);
    return [];
  });
}

/** Reads `oracle: true`, or the role of the oracle (S3.1). */
function oracleOf(fields: FieldReader, given: unknown): NonNullable<Story["oracle"]> | null {
  if (typeof given === "boolean") return given ? true : null;
  const role = fields.text("oracle")?.trim() ?? "";
  return role === "" ? null : roleName(role);
}

function dependencies(fields: FieldReader): StoryId[] {
  const ids = new Set<StoryId>();
  for (const key of DEPENDENCY_KEYS) {
    for (const [index, id] of (fields.texts(key) ?? []).entries()) {
      if (STORY_ID_PATTERN.test(id)) ids.add(storyId(id));
      else fields.complain(key, `"${shorten(id)}" cannot be a story's id`, "Write the id of the other story.", index);
    }
  }
  return [...ids];
}

function dependencyPlace(file: MarkdownFile, id: string): SourceLocation {
  for (const key of DEPENDENCY_KEYS) {
    const value = file.fields?.[key];
    if (value === id) return file.yaml.valuePlace([key]);
    const index = Array.isArray(value) ? value.findIndex((item) => String(item) === id) : -1;
    if (index >= 0) return file.yaml.valuePlace([key, index]);
  }
  return file.yaml.keyPlace([]);
}

function unreadLists({ fields, yaml }: MarkdownFile): ReturnType<PlacedStory["unreadLists"]> {
  return Object.entries(fields ?? {}).flatMap(([key, value]) => {
    const names = (Array.isArray(value) ? value : [value]).filter((item) => typeof item === "string");
    const isRead = KNOWN_KEYS.includes(key) || isOwnKey(key);
    return isRead || names.length === 0 ? [] : [{ key, names, place: yaml.keyPlace([key]) }];
  });
}

/** Returns the phases that have a product. S4.29 has no flag for `refine`: finished research implies it. */
function completedPhases(fields: FieldReader): Phase[] {
  const flags = Object.entries(FLAGS).map(([key, phase]) => [phase, fields.flag(key)] as const);
  const researched = flags.some(([phase, flag]) => phase === "research" && flag === true);
  return flags.flatMap(([phase, flag]) => ((flag ?? (phase === "refine" && researched)) ? [phase] : []));
}

/** Checks the types of what earlier runs wrote. The values are not used, because the journal has the truth. */
function checkRecords(fields: FieldReader): void {
  for (const key of RECORD_TEXTS) fields.text(key);
  fields.flag("reviews_complete");
  fields.integer("refinement_count", 0, Number.MAX_SAFE_INTEGER);
}

function criteriaOf(file: MarkdownFile, problems: Problem[]): Story["criteria"] {
  const { criteria, heading, tooMany } = readCriteria(file.text, file.bodyStart);
  if (heading === 0 || (criteria.length > 0 && !tooMany)) return criteria;
  const lines = lineIndex(file.text);
  const line = lines.at(file.bodyStart).line + heading - 1;
  const source = lines.text(line);
  const message = tooMany
    ? "only the first 1000 acceptance criteria are read"
    : "there is no acceptance criterion under this heading";
  const hint = tooMany ? "Split the story." : "Write each one as a list item: - [ ] what must hold";
  problems.push({
    file: file.file,
    line,
    column: 1,
    source,
    length: source.length,
    severity: "warning",
    message,
    hint,
  });
  return criteria;
}

/** Applies the excused scenarios, each with a person's name and a reason. */
function withExcuses(criteria: Story["criteria"], fields: FieldReader, value: unknown): Story["criteria"] {
  if (value === undefined || value === null) return criteria;
  const hint = "For example: excused: [{ criterion: AC2, by: Ada, reason: the old form is gone }]";
  if (!Array.isArray(value)) fields.complain("excused", "excused must be a list", hint);
  const entries = (Array.isArray(value) ? value : []).flatMap((entry, index) => {
    const [criterion, by, reason] = ["criterion", "by", "reason"].map((key) => (isRecord(entry) ? entry[key] : null));
    const isWhole = [criterion, by, reason].every((text) => typeof text === "string" && text.trim() !== "");
    const isKnown = criteria.some(({ id, text }) => criterion === id || criterion === text);
    if (!isWhole) fields.complain("excused", "each entry needs criterion, by and reason", hint, index);
    else if (!isKnown) fields.complain("excused", `no criterion is "${shorten(String(criterion))}"`, hint, index);
    return isWhole && isKnown ? [{ criterion, excused: { by: String(by), reason: String(reason) } }] : [];
  });
  return criteria.map((each) => {
    const found = entries.find(({ criterion }) => criterion === each.id || criterion === each.text);
    return found === undefined ? each : { ...each, excused: found.excused };
  });
}

function firstHeading(body: string): string | undefined {
  for (const line of markdownLines(body)) if (line.kind === "heading" && line.title !== "") return line.title;
  return undefined;
}

const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
