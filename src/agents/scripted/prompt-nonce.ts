import { SIGNALS } from "../../core/stories/signal.ts";

/**
 * What a script says, with the nonce of the prompt where the prompt asks for one: on the line after each signal, or at
 * the end of a verdict as data. A script is written before the prompt is, so it cannot know the nonce.
 */
export function withPromptNonce(text: string, prompt: string): string {
  const nonce = [...prompt.matchAll(/must be the nonce of this prompt: `([A-Za-z0-9]{8,64})`/g)].at(-1)?.[1];
  if (nonce === undefined) return text;
  const signed = text.replace(SIGNAL_LINE, (line) => `${line}\n${nonce}`);
  if (signed !== text) return signed;
  return /[}`]\s*$/.test(text) ? `${text.trimEnd()}\n${nonce}\n` : text;
}

const SIGNAL_LINE = new RegExp(`^(?:${SIGNALS.join("|")}):.*$`, "gm");
