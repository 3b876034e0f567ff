import type { ToolOutcome } from '@holdpoint/contract';
import type { NetworkRequest, NetworkResponse } from '../network.ts';
import type { SearchPort, SearchRequest } from '../search/port.ts';
import type { ToolContext } from '../tool.ts';
import type { PageBody, ReadPage } from '../web/read-page.ts';
import type { SearchResult } from '../web/search/answer.ts';
import { type Failure, failure } from './cut-short.ts';

/** Sends a request and returns refusals of the network as data. Throws every other error, and every error after an abort. */
export async function networkFetch(
  { network, signal }: ToolContext,
  request: NetworkRequest,
): Promise<{ ok: true; response: NetworkResponse } | { ok: false; failure: Failure }> {
  if (!network) return { ok: false, failure: networkOff(request.url) };
  try {
    return { ok: true, response: await network.fetch(request, signal) };
  } catch (error) {
    const refused = signal.aborted ? undefined : networkFailure(error);
    if (!refused) throw error;
    return { ok: false, failure: refused };
  }
}

/** The outcome for an error of the network; undefined for any other error. */
export function networkFailure(error: unknown): Failure | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  if (!codes.has(error.code)) return undefined;
  const next = 'next' in error && typeof error.next === 'string' ? error.next : 'Try another address.';
  const failed = failure(error.code, error.message, next);
  return error.code === 'ETIMEOUT' ? { ...failed, status: 'timed_out' } : failed;
}

const codes = new Set([
  'EURLINVALID',
  'ENETWORKOFF',
  'EHOSTNOTALLOWED',
  'EADDRESSREFUSED',
  'EREDIRECTREFUSED',
  'ETOOLARGE',
  'ETIMEOUT',
  'ENETWORK',
]);

function networkOff(url: string): Failure {
  const host = (URL.canParse(url) && new URL(url).host) || 'example.com';
  return failure(
    'ENETWORKOFF',
    'This run has no network: it was submitted without a network allowlist.',
    `Continue without the network, or have the run submitted with ${allowing(host)}.`,
  );
}

/** The setting by which a run reaches a host. @param host with its port, except for the default port */
export function allowing(host: string): string {
  return `network: { allow: ["${host}"] }`;
}

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

/**
 * Asks a search engine and returns its refusals, and the network's refusals, as data. Throws every other error, and every error after an
 * abort.
 */
export async function searchWeb(
  { network, text, signal }: Pick<ToolContext, 'network' | 'text' | 'signal'>,
  search: SearchPort,
  request: SearchRequest,
): Promise<{ ok: true; results: SearchResult[] } | { ok: false; failure: Failure }> {
  if (!network) return { ok: false, failure: networkOff(search.endpoint) };
  try {
    const answer = await search.search({ network, text, signal }, request);
    return answer.ok ? answer : { ok: false, failure: { status: 'failed', error: answer.error } };
  } catch (error) {
    const refused = signal.aborted ? undefined : networkFailure(error);
    if (!refused) throw error;
    return { ok: false, failure: refused };
  }
}
