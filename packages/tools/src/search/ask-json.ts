import type { Problem } from '@holdpoint/contract';
import { z } from 'zod';
import type { NetworkRequest, NetworkResponse } from '../network.ts';
import type { SearchAnswer, SearchResult } from '../web/search/answer.ts';
import type { SearchPort } from './port.ts';

/** A search service that answers in JSON. */
interface JsonService {
  /** The name of the service, for people. */
  name: string;
  /** The key of the operator. Results that contain the key are dropped, so that no answer brings the key into a run. */
  key?: string | undefined;
  /** The array of results in an answer, each in the form of the service. */
  answer: z.ZodType<SearchResult[]>;
}

type Deps = Parameters<SearchPort['search']>[0];

/** A page of 20 results has about 60 KB. */
const maxBytes = 2 * 1024 * 1024;
const timeoutMs = 20_000;

/**
 * Asks a service once, without redirects: a redirect could carry the key away. Refusals are data: `ESEARCHREFUSED` for a wrong key or a spent
 * quota, `ESEARCHUNREADABLE` for an answer in another form, `EHTTPSTATUS`. No error has text of the answer, which could repeat the key.
 */
export async function askJson(
  { network, signal }: Pick<Deps, 'network' | 'signal'>,
  service: JsonService,
  request: NetworkRequest,
): Promise<SearchAnswer> {
  const bounds = { max_bytes: maxBytes, timeout_ms: timeoutMs, mayFollow: () => false };
  const response = await network.fetch({ ...request, ...bounds }, signal);
  const refused = refusal(service.name, response);
  if (refused !== undefined) return { ok: false, error: refused };
  const parsed = service.answer.safeParse(response.truncated ? undefined : fromJson(response.body));
  if (!parsed.success) return { ok: false, error: unreadable(service.name) };
  return { ok: true, results: parsed.data.filter((one) => isPage(one.url) && !hasKey(one, service.key)) };
}

function refusal(name: string, { status, headers }: NetworkResponse): Problem | undefined {
  if (status >= 200 && status < 300) return undefined;
  const next = 'Continue without searching, or ask a person.';
  if (status === 401 || status === 403) {
    const message = `${name} refused the key of this installation, or the form of the request (HTTP ${status}).`;
    return { code: 'ESEARCHREFUSED', message, next: `${next} The operator checks HOLDPOINT_WEB_SEARCH_KEY.` };
  }
  if (status === 429 || status === 432 || status === 433) {
    const wait = secondsOf(headers);
    const when = wait === undefined ? '' : ` It may be asked again in ${wait} s.`;
    return { code: 'ESEARCHREFUSED', message: `The quota of ${name} is used up (HTTP ${status}).${when}`, next };
  }
  return { code: 'EHTTPSTATUS', message: `${name} answered with HTTP ${status}.`, next: 'Try again later.' };
}

/** Seconds of `Retry-After`, or the first of Brave's `X-RateLimit-Reset`. */
function secondsOf(headers: Record<string, string>): number | undefined {
  const [first = ''] = (headers['retry-after'] ?? headers['x-ratelimit-reset'] ?? '').split(',');
  return /^\d{1,7}$/.test(first.trim()) ? Number(first) : undefined;
}

const unreadable = (name: string): Problem => ({
  code: 'ESEARCHUNREADABLE',
  message: `The answer of ${name} is not in its published form.`,
  next: 'Continue without searching.',
});

function fromJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

const isPage = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

function hasKey(result: SearchResult, key: string | undefined): boolean {
  if (key === undefined) return false;
  return Object.values(result).some((text) => text.includes(key) || text.includes(encodeURIComponent(key)));
}

/** A text of a result, in one piece and of bounded length. */
export const textOf = (longest: number) =>
  z
    .string()
    .nullish()
    .transform((text) => (text ?? '').slice(0, longest).replaceAll(/\s+/g, ' ').trim());
