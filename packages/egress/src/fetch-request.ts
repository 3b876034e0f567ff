import { EgressError } from './errors.ts';
import { parseHost } from './limits.ts';

/** A request, for a single hop. */
export interface Hop {
  url: URL;
  method: string;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  body: string | Buffer | null;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Headers forbidden to the caller: they decide the request's target or length, or the protocol of the connection. */
const reservedHeaders =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|accept-encoding|proxy-.*)$/;

/** The worker keeps the body until the last redirect. */
const maxBodyBytes = 10 * 1024 ** 2;

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Throws `EgressError` EURLINVALID, and ETOOLARGE for the body. */
export function parseRequest(request: {
  url: string;
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Buffer;
}): Hop {
  const { method: asked = 'GET', body = null } = request;
  const method = asked.toUpperCase();
  if (!methods.includes(method)) throw invalid(`The method ${method} is not supported.`, `Use ${methods.join(', ')}.`);
  if (body !== null && (method === 'GET' || method === 'HEAD')) {
    throw invalid(`A ${method} request has no body.`, 'Leave it out, or use POST.');
  }
  if (body !== null && Buffer.byteLength(body) > maxBodyBytes) {
    const message = `The request body has ${Buffer.byteLength(body)} bytes, more than ${maxBodyBytes}.`;
    throw new EgressError('ETOOLARGE', message, { next: 'Send less at once.' });
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    const lower = name.toLowerCase();
    if (!headerName.test(lower) || /[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw invalid(`The header ${JSON.stringify(name)} cannot be sent.`, 'Use one line of Latin-1 text.');
    }
    if (reservedHeaders.test(lower)) throw invalid(`The client sets the header ${lower}.`, 'Leave it out.');
    headers[lower] = value;
  }
  return { url: parseTarget(request.url), method, headers, body };
}

/**
 * Parses an http or https URL without credentials, drops its fragment and normalises its host.
 *
 * @param base for a redirect's relative URL
 * Throws `EgressError` EURLINVALID.
 */
export function parseTarget(text: string, base?: URL): URL {
  const url = URL.parse(text, base);
  if (!url) throw invalid(`${quote(text)} is not a URL.`, 'Write an absolute URL, e.g. https://example.com/page.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalid(`${quote(text)} is not an http or https URL.`, 'Use http:// or https://.');
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid('The URL holds a user name or a password.', 'Leave them out, and send an authorization header.');
  }
  const host = parseHost(url.hostname);
  if (!host) throw invalid(`${quote(text)} names no host.`, 'Correct the host.');
  url.hostname = host.host.includes(':') ? `[${host.host}]` : host.host; // without its trailing dot
  url.hash = '';
  return url;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text);
}

function invalid(message: string, next: string): EgressError {
  return new EgressError('EURLINVALID', message, { next });
}
