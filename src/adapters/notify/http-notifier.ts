import { createHmac } from "node:crypto";
import type { Notification } from "../../domain/notification.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Notifier } from "../../ports/notifier.ts";

export interface HttpNotifierOptions {
  readonly use: "webhook" | "slack";
  readonly url: string;
  /** Signs the body, so that the receiver knows who sent it; `null`: it is not signed. */
  readonly secret: string | null;
  readonly clock: Clock;
  write(notification: Notification): string;
}

/** Posts JSON. What may be over in a moment (no connection, 429, 5xx) is tried again; a redirect is not followed. */
export function createHttpNotifier({ use, url, secret, clock, write }: HttpNotifierOptions): Notifier {
  // The address of a webhook is often all that protects it.
  const name = `${use} ${new URL(url).host}`;
  const post = async (body: string, kind: string, signal: AbortSignal): Promise<Tried> => {
    try {
      const response = await fetch(url, {
        method: "POST",
        body,
        headers: {
          "content-type": "application/json",
          "user-agent": "remand",
          "x-remand-kind": kind,
          ...(secret === null ? {} : { "x-remand-signature-256": `sha256=${signatureOf(body, secret)}` }),
        },
        redirect: "manual",
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      await response.body?.cancel();
      if (response.ok) return { trouble: null };
      return { trouble: `it answered ${response.status}`, mayPass: response.status === 429 || response.status >= 500 };
    } catch (error) {
      return { trouble: reasonOf(error as Error), mayPass: true };
    }
  };
  return {
    name,
    async notify(notification, signal) {
      const body = write(notification);
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 4) {
        const { trouble, mayPass } = await post(body, notification.kind, signal);
        if (trouble === null) return;
        if (mayPass !== true || pauseMs > LAST_PAUSE_MS || signal.aborted) throw new Error(trouble);
        await clock.sleep(pauseMs, signal);
      }
    },
  };
}

type Tried = { readonly trouble: string | null; readonly mayPass?: boolean };

const TIMEOUT_MS = 10_000;
const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 2000;

export const signatureOf = (body: string, secret: string): string =>
  createHmac("sha256", secret).update(body).digest("hex");

/** `fetch` says only that it failed; why is below it. The address is in neither. */
function reasonOf(error: Error): string {
  if (error.name === "TimeoutError") return "it did not answer in time";
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code === undefined ? "it could not be reached" : `it could not be reached (${cause.code})`;
}
