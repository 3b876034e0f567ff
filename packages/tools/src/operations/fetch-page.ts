import type { ToolOutcome } from '@holdpoint/contract';
import type { NetworkResponse } from '../network.ts';
import type { ToolContext } from '../tool.ts';
import type { PageBody, ReadPage } from '../web/read-page.ts';
import { failure } from './cut-short.ts';
import { networkFetch } from './network-fetch.ts';

export interface PageRequest {
  url: string;
  format: PageBody['format'];
  max_chars: number;
  /** Counted from 0. */
  start_char: number;
}

/** Fetches a page or text file with GET and returns a part of its text. */
export async function fetchPage(context: ToolContext, request: PageRequest): Promise<ToolOutcome> {
  const fetched = await networkFetch(context, {
    url: request.url,
    headers: { accept: acceptHeader },
    max_bytes: maxBytes,
    timeout_ms: timeoutMs,
  });
  if (!fetched.ok) return fetched.failure;
  const { body, headers, url } = fetched.response;
  const { format } = request;
  const page = await context.text.run('page', { body, contentType: headers['content-type'], url, format });
  return outcome(fetched.response, page, request);
}

const acceptHeader =
  'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5';
const maxBytes = 5 * 1024 * 1024;
const timeoutMs = 30_000;

function outcome(response: NetworkResponse, page: ReadPage, request: PageRequest): ToolOutcome {
  const about = {
    url: request.url,
    final_url: response.url,
    status: response.status,
    content_type: (response.headers['content-type'] ?? '').slice(0, maxContentType),
  };
  if (response.status >= 400) {
    const said = page.ok ? { ...about, ...excerpt(page, response, { ...request, start_char: 0 }) } : about;
    return failure(
      'EHTTPSTATUS',
      `${response.url} answered with status ${response.status}.`,
      next(response.status),
      said,
    );
  }
  if (!page.ok) {
    return failure(
      'EBINARY',
      `${response.url} cannot be shown as text: ${page.reason}.`,
      'Look for the same content as HTML or text.',
      { ...about, bytes: response.body.length },
    );
  }
  const total = page.content.length;
  if (request.start_char > 0 && request.start_char >= total) {
    return failure(
      'ERANGE',
      `The page has ${total} characters; ${request.start_char} is past its end.`,
      'Choose a smaller start_char.',
      { ...about, total_chars: total },
    );
  }
  return { status: 'succeeded', value: { ...about, ...excerpt(page, response, request) } };
}

const maxContentType = 200;

function excerpt(
  { title, content, complete }: Extract<ReadPage, { ok: true }>,
  { truncated }: NetworkResponse,
  { start_char, max_chars }: PageRequest,
) {
  return {
    ...(title && { title }),
    ...cutPage(content, start_char, max_chars),
    ...((truncated || !complete) && { incomplete: true }),
  };
}

function next(status: number): string {
  if (status === 401 || status === 403)
    return 'The page needs a permission that this run does not have; choose another source.';
  if (status === 404 || status === 410) return 'Check the address, or search for the page.';
  if (status === 429) return 'Too many requests: wait, or do something else first.';
  return status >= 500
    ? 'The server failed; try again later, or choose another source.'
    : 'Read the message of the server in content.';
}

interface PageCut {
  content: string;
  /** UTF-16 code units of the whole text, the unit of `start_char`. */
  total_chars: number;
  truncated: boolean;
  next_start?: number;
}

/** A part of a text. The parts from `next_start` to `next_start` are the whole text; none begins or ends within a character. */
function cutPage(text: string, start: number, length: number): PageCut {
  const from = splits(text, start) ? start - 1 : start;
  const wanted = Math.min(from + length, text.length);
  const end = splits(text, wanted) ? wanted - 1 : wanted;
  const truncated = end < text.length;
  return {
    content: text.slice(from, end),
    total_chars: text.length,
    truncated,
    ...(truncated && { next_start: end }),
  };
}

/** Whether a position lies between the two halves of a character. */
function splits(text: string, at: number): boolean {
  return isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
