import { signal } from "@preact/signals";
import type { HelloDocument } from "../../src/views/board/dashboard.ts";
import { refreshPage } from "./refresh.ts";

/** Who serves, what may be done here, and how the engine is: asked for by the frame around every page. */
export const hello = signal<HelloDocument | null>(null);

/** Nothing can be changed here, or it is not known yet whether it can. */
export const isReadOnly = (): boolean => hello.value?.readOnly !== false;

let newest: HelloDocument | null = null;
let isWaiting = false;

/**
 * The frame and the page come from different requests. An engine that came or went is shown when the page knows it too:
 * under "Engine gone" nothing looks worked on.
 */
export async function showHello(data: HelloDocument | null): Promise<void> {
  newest = data;
  if (isWaiting) return;
  const shown = hello.value?.engine.state;
  if (shown !== undefined && data !== null && data.engine.state !== shown) {
    isWaiting = true;
    await refreshPage();
    isWaiting = false;
  }
  hello.value = newest;
}
