import type { Probe } from "../app/host.ts";

export const well = (name: string, detail: string): Probe => ({ name, ok: true, detail, fix: "" });
export const problem = (name: string, detail: string, fix: string): Probe => ({ name, ok: false, detail, fix });
