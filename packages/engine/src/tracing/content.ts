import type { Payload } from '@holdpoint/contract';
import { genAi } from '@holdpoint/contract/names';

/** Makes a text of a run fit to be seen by those who read traces. */
export type ContentRedactor = (text: string, tenant: string) => string;

/** Whose texts they are, and how they are redacted. */
interface Reading {
  tenant: string;
  /** Undefined: no span has content. */
  redact: ContentRedactor | undefined;
}

/** Characters of one text. */
const longestContent = 4000;

/** The attributes that have content. */
export const contentNames: ReadonlySet<string> = new Set([
  genAi.inputMessages,
  genAi.outputMessages,
  genAi.toolArguments,
  genAi.toolResult,
]);

/** The JSON of a value, or the beginning of a large one. Undefined: the trace has no content. */
export function contentOf(trace: Reading, payload: Payload | undefined): string | undefined {
  if (trace.redact === undefined || payload === undefined) return undefined;
  return shown(trace, 'json' in payload ? JSON.stringify(payload.json) : payload.preview);
}

/** A message as the GenAI conventions write it: a list with one message of one text. */
export function messageOf(trace: Reading, role: 'user' | 'assistant', text: string | undefined): string | undefined {
  if (trace.redact === undefined || text === undefined || text === '') return undefined;
  return JSON.stringify([{ role, parts: [{ type: 'text', content: shown(trace, text) }] }]);
}

/** Redacted before it is cut, so that no half of a secret is left at the cut. */
function shown({ redact, tenant }: Reading, text: string): string {
  const redacted = redact === undefined ? '' : redact(text, tenant);
  return redacted.length > longestContent ? `${redacted.slice(0, longestContent)}…` : redacted;
}
