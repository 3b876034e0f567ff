import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pathOf } from '../about-request.ts';
import type { App } from '../deps.ts';

/** Paths of the API itself. */
const ofApi = /^\/(v1|docs|openapi\.json|metrics|healthz|readyz)(\/|$)/;
/** No segment begins with a dot, and no character is encoded: such a path stays inside the folder of the console. */
const file = /^\/((?:(?:assets|icons)\/(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*\/)*)?[A-Za-z0-9_-][A-Za-z0-9_.-]*\.[a-z0-9]+)$/;

/**
 * The file of the console for a request, `undefined` for a request to the API. Addresses of pages have no file of their own, so a browser
 * that navigates there gets `index.html`; other clients, which ask for JSON or for anything, get the answer of the API.
 */
export function consoleFile(request: FastifyRequest): string | undefined {
  const path = pathOf(request);
  if (ofApi.test(path)) return undefined;
  const [, named] = file.exec(path) ?? [];
  if (named !== undefined) return /\.(br|gz)$/.test(named) ? undefined : named;
  if (/^\/(assets|icons)\//.test(path)) return undefined;
  const accept = request.headers.accept ?? '*/*';
  const takesPage = accept.includes('text/html') || (path === '/' && !accept.includes('json'));
  return takesPage ? 'index.html' : undefined;
}

interface ConsoleFile {
  bytes: Buffer;
  type: string;
  /** Undefined: as it is. */
  encoding: 'br' | 'gzip' | undefined;
  etag: string;
}

const compressed = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/**
 * Read at each request: the set-up may replace the folder while the API runs. Its build before lies in `.previous`: for the moment between
 * the two moves, and for open pages that load a part of it. @param name from `consoleFile`
 */
async function readConsoleFile(
  directory: string,
  name: string,
  acceptEncoding: string,
): Promise<ConsoleFile | undefined> {
  // Again the folder at last: a slow reader may look at `.previous` while the next build removes it.
  for (const place of [directory, `${directory}.previous`, directory]) {
    const found = await readFrom(place, name, acceptEncoding);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function readFrom(directory: string, name: string, acceptEncoding: string): Promise<ConsoleFile | undefined> {
  const type = types[extname(name)] ?? 'application/octet-stream';
  for (const [encoding, suffix] of compressed) {
    const bytes = accepts(acceptEncoding, encoding) ? await read(join(directory, `${name}${suffix}`)) : undefined;
    if (bytes !== undefined) return { bytes, type, encoding, etag: etagOf(bytes) };
  }
  const bytes = await read(join(directory, name));
  return bytes && { bytes, type, encoding: undefined, etag: etagOf(bytes) };
}

/** Each form of a file has a tag of its own. */
const etagOf = (bytes: Buffer): string => `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`;

/** RFC 9110: `q=0` excludes a coding. */
function accepts(header: string, coding: string): boolean {
  const [, weight] = new RegExp(`(?:^|,)\\s*${coding}\\s*(?:;\\s*q=([0-9.]+)\\s*)?(?:,|$)`, 'i').exec(header) ?? [
    '',
    '0',
  ];
  return weight === undefined || Number(weight) > 0;
}

async function read(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'EISDIR' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return undefined;
    throw error;
  }
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** Scripts, styles and requests of this origin only. No script turns text into HTML; the one policy passes the addresses of the workers. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types worker',
].join('; ');

/** The web console, at every path without a route of its own. */
export function serveConsole(app: App, directory: string): void {
  app.get('/*', { config: { access: 'console' }, logLevel: 'warn', schema: { hide: true } }, async (request, reply) => {
    const name = consoleFile(request);
    if (name === undefined) return reply.callNotFound();
    const found = await readConsoleFile(directory, name, request.headers['accept-encoding'] ?? '');
    if (found !== undefined) return sendFile(request, reply, name, found);
    if (name === 'index.html' && !(await exists(directory))) return sendHowToBuild(reply);
    return reply.callNotFound();
  });
}

function sendFile(request: FastifyRequest, reply: FastifyReply, name: string, file: ConsoleFile): FastifyReply {
  const { bytes, type, encoding, etag } = file;
  reply.headers({
    'content-security-policy': policy,
    // The name of an asset has the hash of its content. Every other file is compared with the server's at each use.
    'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: name === 'index.html' ? 'accept, accept-encoding' : 'accept-encoding',
    etag,
  });
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
  if (encoding !== undefined) reply.header('content-encoding', encoding);
  return reply.type(type).send(bytes);
}

const isKnown = (given: string | undefined, etag: string): boolean =>
  (given ?? '').split(',').some((one) => one.trim().replace(/^W\//, '') === etag);

function sendHowToBuild(reply: FastifyReply): FastifyReply {
  const text =
    'The console is not built yet. Run `npm run setup` in the directory of Holdpoint, then load this page again.\n';
  return reply.code(404).header('cache-control', 'no-store').type('text/plain; charset=utf-8').send(text);
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
