import type { ComponentChildren } from "preact";
import type { Loaded } from "../use-document.ts";
import { Problem } from "./problem.tsx";

export interface LoadingProps<T> {
  readonly loaded: Loaded<T>;
  readonly children: (data: T) => ComponentChildren;
}

/** Shows what was loaded; until then that it is; and what is wrong where it never came. */
export function Loading<T>({ loaded, children }: LoadingProps<T>) {
  if (loaded.data !== null) return <>{children(loaded.data)}</>;
  if (loaded.problem !== null) return <Problem problem={loaded.problem} />;
  return <p class="muted">Loading…</p>;
}
