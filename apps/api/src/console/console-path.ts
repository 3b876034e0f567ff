import type { FastifyRequest } from 'fastify';
import { pathOf } from '../about-request.ts';

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
