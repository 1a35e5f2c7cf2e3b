import { useState } from "preact/hooks";
import { askText } from "../ask.ts";
import { asRefusal } from "../use-document.ts";

interface ExportProps {
  /** The address of the export. */
  readonly path: string;
  readonly file: string;
  readonly label: string;
}

/** Saves a story, or the whole run, as one file that can be read without Remand. */
export function Export({ path, file, label }: ExportProps) {
  const [problem, setProblem] = useState("");
  const save = async (): Promise<void> => {
    try {
      const page = await askText(path);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
      link.download = file;
      link.click();
      URL.revokeObjectURL(link.href);
      setProblem("");
    } catch (error) {
      setProblem(asRefusal(error).message);
    }
  };
  return (
    <>
      <button type="button" onClick={() => void save()}>
        {label}
      </button>
      {problem !== "" && <span role="alert">{problem}</span>}
    </>
  );
}
