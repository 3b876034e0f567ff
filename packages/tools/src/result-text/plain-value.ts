import { errorLine } from './error-line.ts';
import type { PlainCall, ResultText } from './result-text.ts';
import { fileText } from './shown-text.ts';

/** The text of a call whose tool renders nothing itself: a text as it is, any other value as JSON. */
export function renderPlainly({ status, value, error }: PlainCall): ResultText {
  const head = status === 'succeeded' ? 'ok' : errorLine(status, error);
  if (value === undefined || value === null) return { head, body: '' };
  return { head, body: typeof value === 'string' ? fileText(value) : JSON.stringify(value) };
}
