import type { Refusal } from "../ask.ts";

/** An error, and what the person can do. */
export function Problem({ problem }: { readonly problem: Refusal }) {
  return (
    <div class="problem" role="alert">
      <h1>{problem.status === 401 ? "This page needs its token" : "That did not work"}</h1>
      <p>{problem.message}.</p>
      {problem.hint !== "" && <p class="muted">{problem.hint}</p>}
    </div>
  );
}
