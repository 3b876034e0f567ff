import { stat } from 'node:fs/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../deps.ts';
import { consoleFile } from './console-path.ts';
import { type ConsoleFile, readConsoleFile } from './read-console-file.ts';

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
