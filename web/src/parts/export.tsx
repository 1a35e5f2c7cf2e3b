import { useState } from "preact/hooks";
import { askText } from "../ask.ts";
import { asRefusal } from "../use-document.ts";

/** Saves the whole story as one file, for a reader without Remand. */
export function Export({ id }: { readonly id: string }) {
  const [problem, setProblem] = useState("");
  const save = async (): Promise<void> => {
    try {
      const page = await askText(`/stories/${id}/export`);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
      link.download = `${id}.html`;
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
        Save as one HTML file
      </button>
      {problem !== "" && <span role="alert">{problem}</span>}
    </>
  );
}
