import type { ErrorDocument } from "../../src/views/board/dashboard.ts";
import { token } from "./token.ts";

/** The reason why the server refused a request. */
export class Refusal extends Error {
  readonly status: number;
  readonly hint: string;

  constructor(status: number, { error, hint }: ErrorDocument) {
    super(error);
    this.name = "Refusal";
    this.status = status;
    this.hint = hint;
  }
}

/** The error and the fix as sentences. */
export const refusalText = ({ message, hint }: Refusal): string =>
  [`${message}.`, hint].filter((part) => part !== "").join(" ");

const AUTHORIZED = (): Record<string, string> => ({ authorization: `Bearer ${token()}` });

export async function ask<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await answerTo(path, { headers: AUTHORIZED(), signal: signal ?? null })).json()) as T;
}

export async function askText(path: string): Promise<string> {
  return (await answerTo(path, { headers: AUTHORIZED() })).text();
}

export async function say<T>(path: string, body: object): Promise<T> {
  const headers = { ...AUTHORIZED(), "content-type": "application/json" };
  return (await (await answerTo(path, { method: "POST", headers, body: JSON.stringify(body) })).json()) as T;
}

export async function openStream(
  path: string,
  after: number | null,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const headers = after === null ? AUTHORIZED() : { ...AUTHORIZED(), "last-event-id": String(after) };
  const { body } = await answerTo(path, { headers, signal });
  if (body === null) throw new TypeError("the stream has no body");
  return body;
}

async function answerTo(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(`/api${path}`, init);
  if (response.ok) return response;
  const refused = (await response.json().catch(() => ({ error: response.statusText, hint: "" }))) as ErrorDocument;
  throw new Refusal(response.status, refused);
}
