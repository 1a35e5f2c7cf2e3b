import { useMemo } from "preact/hooks";
import type { DiffFile } from "../../../src/views/story/diff-document.ts";
import type { ViewedFiles } from "../viewed.ts";

interface Props {
  readonly files: readonly DiffFile[];
  readonly viewed: ViewedFiles;
}

/** The changed files by folder, with their changes and whether they were viewed. */
export function FileTree({ files, viewed }: Props) {
  const folders = useMemo(() => byFolder(files), [files]);
  if (files.length < 2) return null;
  const count = files.filter((file) => viewed.has(file)).length;
  return (
    <nav class="file-tree" aria-label="Changed files">
      <p class="muted" role="status">
        {count} of {files.length} files viewed
      </p>
      {folders.map(([folder, own]) => (
        <div key={folder}>
          {folder !== "" && <p class="muted folder">{folder}/</p>}
          <ul>
            {own.map((file) => (
              <li key={file.path}>
                <a
                  href={`#${encodeURIComponent(`file-${file.path}`)}`}
                  onClick={(event) => {
                    event.preventDefault();
                    document.getElementById(`file-${file.path}`)?.scrollIntoView();
                  }}
                >
                  {viewed.has(file) && <span aria-hidden="true">✔ </span>}
                  {file.path.slice(folder === "" ? 0 : folder.length + 1)}
                  {viewed.has(file) && <span class="unseen">, viewed</span>}
                </a>{" "}
                <span class="plus">+{file.added}</span> <span class="minus">−{file.removed}</span>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

function byFolder(files: readonly DiffFile[]): readonly (readonly [string, readonly DiffFile[]])[] {
  const folders = new Map<string, DiffFile[]>();
  for (const file of files) {
    const folder = file.path.split("/").slice(0, -1).join("/");
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  return [...folders].sort(([a], [b]) => (a < b ? -1 : 1));
}
