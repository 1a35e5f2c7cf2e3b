import { signal } from "@preact/signals";
import type { HelloDocument } from "../../src/views/board/dashboard.ts";

/** Who serves, and what may be done here: asked for once, by the frame around every page. */
export const hello = signal<HelloDocument | null>(null);
