import { ApiError, ConnectionError } from '@holdpoint/client';
import { plain } from '@holdpoint/readable';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { cutText, mostText } from './bounds.ts';
import type { Answer } from './define-tool.ts';

export const resultOf = ({ text, value }: Answer<Record<string, unknown>>) => ({
  content: [{ type: 'text' as const, text: cutText(text, mostText, 'the page is full') }],
  structuredContent: value,
});

type Refusal = ApiError | ConnectionError;
export const isRefusal = (error: unknown): error is Refusal =>
  error instanceof ApiError || error instanceof ConnectionError;

/** A refusal of the API for a model: the event, the places in the arguments, and the next step. */
export function refusalText(error: unknown): string {
  const lines = isRefusal(error)
    ? linesOf(error)
    : ['internal_error: the call went wrong. The log of the server says why.'];
  return cutText(plain(lines.join('\n')), 8192, 'cut');
}

export const refusal = (error: unknown): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: refusalText(error) }],
});

function linesOf(error: Refusal): string[] {
  const places = error instanceof ApiError ? error.errors.map(({ pointer, detail }) => `${pointer}: ${detail}`) : [];
  return [`${error.code}: ${error.message}`, ...places, error.next];
}
