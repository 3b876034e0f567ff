import { decodeBody } from '../charset.ts';
import { absoluteUrl, attribute, type HtmlTree, oneLine, parseHtml } from '../html-tree.ts';
import { parseMediaType } from '../media-type.ts';
import type { SearchAnswer, SearchResult } from './answer.ts';

export interface ResultsPage {
  body: Buffer;
  contentType: string;
  status: number;
  /** Where the page came from after all redirects. */
  url: string;
}

/**
 * Looks for results first: the page repeats the query, and the query may contain any of the other marks. Reports no results only for the
 * page's own statement.
 */
export function readResults({ body, contentType, status, url }: ResultsPage): SearchAnswer {
  const { charset } = parseMediaType(contentType);
  const tree = parseHtml(decodeBody(body, { ...(charset ? { charset } : {}), html: true }));
  const results = resultsIn(tree, url);
  const { host } = new URL(url);
  if (results.length > 0) return { ok: true, results };
  if (tree.$(challenge).length > 0) return blocked(host);
  if (tree.$(nothingFound).length > 0) return { ok: true, results: [] };
  if (blocking.has(status)) return blocked(host);
  if (status >= 400) return failed(host, status);
  return unreadable(host);
}

const challenge = '#challenge-form, form[action*="anomaly.js"], [class*="anomaly-modal"], .g-recaptcha, .h-captcha';
const nothingFound = '.no-results, .result--no-result';
/** This engine sends its challenge with status 202. */
const blocking = new Set([202, 403, 418, 429]);

function resultsIn({ $ }: HtmlTree, base: string): SearchResult[] {
  const results = new Map<string, SearchResult>();
  for (const element of $('.result').not('.result--ad').toArray().slice(0, maxResults)) {
    const link = $(element).find('a.result__a').first();
    const [anchor] = link.toArray();
    const url = anchor && target(attribute(anchor, 'href'), base);
    const title = oneLine(link.text()).slice(0, maxTitle);
    if (!url || title === '' || results.has(url)) continue;
    const snippet = oneLine($(element).find('.result__snippet').first().text()).slice(0, maxSnippet);
    results.set(url, { title, url, snippet });
  }
  return [...results.values()];
}

/** A usual page has about 30, a hostile page 100,000. */
const maxResults = 200;
const maxTitle = 300;
const maxSnippet = 1000;

/**
 * The address of the result: links may lead through a page of the engine, with the address in `uddg`. Advertisements lead through `y.js`.
 */
function target(href: string | undefined, base: string): string | undefined {
  const absolute = absoluteUrl(href, base);
  if (absolute === undefined) return undefined;
  const { hostname, pathname, searchParams } = new URL(absolute);
  const own = hostname === new URL(base).hostname || /(?:^|\.)duckduckgo\.com$/.test(hostname);
  if (own && pathname.endsWith('/y.js')) return undefined;
  const wrapped = own ? searchParams.get('uddg') : null;
  const url = wrapped === null ? absolute : absoluteUrl(wrapped, absolute);
  return url?.startsWith('http') ? url : undefined;
}

function blocked(host: string): SearchAnswer {
  const error = {
    code: 'ESEARCHBLOCKED',
    message: `${host} treats the search as a robot's and asks for proof that a person sends it.`,
    next: 'Do not repeat the search at once: that prolongs the block. Fetch a page you know with web_fetch, or ask the person.',
  };
  return { ok: false, error };
}

function failed(host: string, status: number): SearchAnswer {
  const error = {
    code: 'EHTTPSTATUS',
    message: `${host} answered with status ${status}.`,
    next: 'Try again later, or fetch a page you know with web_fetch.',
  };
  return { ok: false, error };
}

function unreadable(host: string): SearchAnswer {
  const error = {
    code: 'ESEARCHUNREADABLE',
    message: `${host} answered with a page of an unknown form, so its results cannot be read.`,
    next: 'This does not mean that there are no results. Fetch a page you know with web_fetch.',
  };
  return { ok: false, error };
}
