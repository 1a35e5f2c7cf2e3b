/** What is to be set in a project where each story is to write the right answer. */
export interface RightAnswer {
  readonly stories: number;
  /** How long each attempt takes. */
  readonly attemptMs: number;
  /** Further lines of its config. */
  readonly config: string;
  /** Further lines of a story's front matter. */
  frontMatter?(story: number): string;
}

/** Its files. Two of three stories pass at the second attempt; every third never does, and ends at a person. */
export function rightAnswer({ stories, attemptMs, config, frontMatter }: RightAnswer): Record<string, string> {
  const attempt = (text: string, said: string): string =>
    `      - { delay: ${attemptMs}ms, edit: { answer.txt: "${text}\\n" }, say: "${said}" }\n`;
  const files: Record<string, string> = {
    "answer.txt": "nothing yet\n",
    "remand.yaml": `version: 1
preset: goal
agents:
  developer: { use: scripted, command: script.yaml }
${config}`,
    "script.yaml": `version: 1
parts:
  - match: { story: "never-*" }
    attempts:
${attempt("wrong 1", "one")}${attempt("wrong 2", "two")}${attempt("wrong 3", "three")}${attempt("wrong 4", "four")}  - attempts:
${attempt("wrong", "first")}${attempt("right", "second")}`,
  };
  for (let i = 0; i < stories; i++) {
    const id = i % 3 === 2 ? `never-${i}` : `story-${i}`;
    const more = frontMatter?.(i) ?? "";
    files[`stories/${id}.md`] =
      `---\ntitle: ${id}\npriority: ${i}\ntarget: "*"\n${more}---\n\nWrite the right answer.\n`;
  }
  return files;
}
