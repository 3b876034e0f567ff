import type { onRequestAsyncHookHandler } from 'fastify';
import { type ApiDeps, pathOf } from '../deps.ts';
import { ApiProblem } from '../errors/api-problem.ts';

/** Paths that need no key. They show nothing about runs. */
const isOpen = (path: string): boolean => openPaths.has(path) || path.startsWith('/docs/');
const openPaths = new Set(['/healthz', '/readyz', '/openapi.json', '/docs']);

/** Refuses requests without the key. */
export const requireKey =
  ({ isKey }: Pick<ApiDeps, 'isKey'>): onRequestAsyncHookHandler =>
  async (request) => {
    if (isOpen(pathOf(request))) return;
    const key = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    if (key === undefined) throw new ApiProblem('unauthorized', 'this request carries no key');
    if (!isKey(key)) throw new ApiProblem('unauthorized', 'this is not the key of this server');
  };
