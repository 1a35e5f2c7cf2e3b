import { join } from "node:path";
import { type Problem, RemandError } from "../core/events/error.ts";
import { storyIdFault } from "../core/events/ids.ts";
import type { StoryEditor } from "../ports/files.ts";
import { type StorySource, readStoryFiles } from "../parse/stories/story-files.ts";
import { readStoryFile } from "../parse/stories/story-file.ts";
import type { Checkout } from "./command.ts";
import { loadConfig, shownPath, storiesFolder } from "./load-config.ts";

/** Writes only text that passes the parser with which `remand run` reads stories. */
export function createStoryEditor(world: Checkout, configFile: string | undefined): StoryEditor {
  const sources = async (): Promise<{ readonly folder: string; readonly files: readonly WrittenFile[] }> => {
    const { config } = await loadConfig(world, { config: configFile });
    const folder = storiesFolder(world, config);
    const links = new Set(await world.files.listLinks(folder, ".md"));
    const files: WrittenFile[] = [];
    for (const path of await world.files.list(folder, ".md")) {
      const text = links.has(path) ? null : await world.files.read(path);
      if (text !== null) files.push({ full: path, path: shownPath(world, path), text });
    }
    return { folder, files };
  };
  return {
    read: async (id) => {
      const found = fileOf((await sources()).files, id);
      return found === undefined ? null : { file: found.path, text: found.text };
    },
    write: async ({ id, text, before, isCheck }) => {
      const fault = storyIdFault(id);
      if (fault !== null)
        throw new RemandError("input-invalid", `"${id}" cannot be a story's id: ${fault}`, "Type another id.");
      const { folder, files } = await sources();
      const found = fileOf(files, id);
      const full = found?.full ?? join(folder, `${id}.md`);
      if (before === null && (found !== undefined || (await world.files.look(full)).type !== "absent"))
        throw new RemandError(
          "input-invalid",
          `there is a story ${id} already`,
          "Take another id, or edit that story.",
        );
      if (before !== null && found?.text !== before)
        throw new RemandError(
          "input-invalid",
          `${id} changed on disk since you opened it`,
          "Copy your text, reload the page, and paste it.",
        );
      const path = shownPath(world, full);
      const problems = problemsOf(files, { path, text }, id);
      const isWritten = !isCheck && !problems.some(({ severity }) => severity === "error");
      if (isWritten) await world.files.write(full, text);
      return { file: path, problems, isWritten };
    },
  };
}

interface WrittenFile extends StorySource {
  readonly full: string;
  readonly text: string;
}

/** Finds a story's file: by the id in it, else by the name of the file. */
const fileOf = (files: readonly WrittenFile[], id: string): WrittenFile | undefined =>
  files.find(({ path, text }) => readStoryFile(path, text).story?.id === id) ??
  files.find(({ path }) => path.endsWith(`/${id}.md`) || path === `${id}.md`);

/** The problems of the edited text, and those that it would cause in other stories. */
function problemsOf(files: readonly WrittenFile[], edited: StorySource, id: string): readonly Problem[] {
  const others = files.filter(({ path }) => path !== edited.path);
  const known = new Set(readStoryFiles(files).problems.map(textOf));
  const problems = readStoryFiles([...others, edited]).problems.filter(
    (problem) => problem.file === edited.path || !known.has(textOf(problem)),
  );
  const { story } = readStoryFile(edited.path, edited.text ?? "");
  if (story === null || story.id === id) return problems;
  const message = `the text says that its id is "${story.id}", and this is the story "${id}"`;
  const place = { file: edited.path, line: 1, column: 1 };
  return [{ ...place, severity: "error", message, hint: "Take the id out of the text." }, ...problems];
}

const textOf = ({ file, line, message }: Problem): string => `${file}:${line} ${message}`;
