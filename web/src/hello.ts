import { signal } from "@preact/signals";
import type { HelloDocument } from "../../src/views/board/dashboard.ts";

/** Who serves, what may be done here, and how the engine is: asked for by the frame around every page. */
export const hello = signal<HelloDocument | null>(null);

/** Nothing can be changed here, or it is not known yet whether it can. */
export const isReadOnly = (): boolean => hello.value?.readOnly !== false;
