import type { ComponentChildren } from "preact";
import type { Loaded } from "../use-document.ts";
import { Problem } from "./problem.tsx";

export interface LoadingProps<T> {
  readonly loaded: Loaded<T>;
  readonly children: (data: T) => ComponentChildren;
}

/** Shows the loaded content, that it is loading, or the error. */
export function Loading<T>({ loaded, children }: LoadingProps<T>) {
  if (loaded.data !== null) return <>{children(loaded.data)}</>;
  if (loaded.problem !== null) return <Problem problem={loaded.problem} />;
  return <p class="muted">Loading…</p>;
}
