import { signal } from "@preact/signals";
import type { HelloDocument } from "../../src/views/board/dashboard.ts";
import { refreshPage } from "./refresh.ts";

/** The project, what may be done here, and the state of the engine; loaded by the frame around every page. */
export const hello = signal<HelloDocument | null>(null);

/** Whether nothing can be changed here. True until the server has answered. */
export const isReadOnly = (): boolean => hello.value?.readOnly !== false;

let newest: HelloDocument | null = null;
let isWaiting = false;

/**
 * The frame and the page load from different requests. A change of the engine is shown only when the page has it too,
 * so that no work looks active below "Engine gone".
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
