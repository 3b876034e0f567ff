import type { Payload } from '@holdpoint/contract';
import { genAi } from '@holdpoint/contract/names';

/** Removes the parts of a run's text that readers of traces must not see. */
export type ContentRedactor = (text: string, tenant: string) => string;

/** The tenant of the texts, and the redactor. */
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

/** The JSON of a value, or the beginning of a large value. Undefined: the trace has no content. */
export function contentOf(trace: Reading, payload: Payload | undefined): string | undefined {
  if (trace.redact === undefined || payload === undefined) return undefined;
  return shown(trace, 'json' in payload ? JSON.stringify(payload.json) : payload.preview);
}

/** A message in the form of the GenAI conventions: a list with one message of one text. */
export function messageOf(trace: Reading, role: 'user' | 'assistant', text: string | undefined): string | undefined {
  if (trace.redact === undefined || text === undefined || text === '') return undefined;
  return JSON.stringify([{ role, parts: [{ type: 'text', content: shown(trace, text) }] }]);
}

/** Redacted before the cut, so that no half of a secret is left at the cut. */
function shown({ redact, tenant }: Reading, text: string): string {
  const redacted = redact === undefined ? '' : redact(text, tenant);
  return redacted.length > longestContent ? `${redacted.slice(0, longestContent)}…` : redacted;
}
