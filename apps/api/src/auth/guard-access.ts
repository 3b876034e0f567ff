import { createHash } from 'node:crypto';
import type { Admission, Holder } from '@holdpoint/callers';
import { defaultTenant, type Scope, whyNeverHeld } from '@holdpoint/contract';
import { redisTrouble } from '@holdpoint/engine/redis';
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { consoleFile } from '../console/serve-console.ts';
import type { App, ServerDeps } from '../deps.ts';
import { ApiProblem } from '../errors/to-problem.ts';
import { guardOrigin, tokenOf } from './session-cookie.ts';

/** Lets a request through when its key is in force and has the scope declared by the route, and gives the route its caller. */
export const guardAccess =
  (deps: ServerDeps, recent = openRecentKeys(deps.now)): onRequestAsyncHookHandler =>
  async (request, reply) => {
    const { access, withoutRedis = false } = request.routeOptions.config;
    if (access === 'open' || (access === 'console' && consoleFile(request) !== undefined)) return;
    const key = keyOf(request);
    const checked = await (key === undefined ? checkSession(deps, request) : deps.callers.check(key)).catch(
      (error: unknown) => {
        if (!withoutRedis || redisTrouble(error) === undefined || key === undefined || !recent.has(key)) throw error;
      },
    );
    if (checked === undefined) return;
    const { holder, rate } = checked;
    if (rate !== undefined) tellRate(reply, rate);
    // A path without a route has no access: its answer is a 404, for callers only.
    if (access !== undefined && access !== 'any key' && access !== 'console') assertScope(holder, access);
    if (withoutRedis && key !== undefined) recent.add(key);
    request.deps = { ...deps, engine: deps.openEngine.as(holder.caller), holder };
  };

/** The key of a request. A session beside a key is ignored. */
function keyOf({ headers: { authorization } }: FastifyRequest): string | undefined {
  const [, key] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
  if (key === undefined && authorization !== undefined) throw withoutKey();
  return key;
}

const withoutKey = (): ApiProblem => new ApiProblem('unauthorized', 'this request carries no key');

async function checkSession({ callers }: ServerDeps, request: FastifyRequest): Promise<Admission> {
  const token = tokenOf(request);
  if (token === undefined) throw withoutKey();
  guardOrigin(request);
  return callers.checkSession(token);
}

/** A route without declared access stops the start of the server. */
export function requireDeclaredAccess(app: App): void {
  app.addHook('onRoute', (route) => {
    // The pages of the OpenAPI document come from a plugin.
    if (route.url.startsWith('/docs')) route.config = { ...route.config, access: 'open' };
    if (route.config?.access === undefined) throw new Error(`the route ${route.url} declares no access`);
  });
}

function assertScope({ caller, scopes }: Holder, scope: Scope): void {
  if (scopes.includes(scope)) return;
  throw new ApiProblem(
    'missing_scope',
    `this request needs the scope ${scope}, which the key of ${caller.name} lacks`,
    {
      next: howToGet(caller, scope),
    },
  );
}

function howToGet(caller: Holder['caller'], scope: Scope): string {
  const never = whyNeverHeld(caller, scope);
  if (never !== undefined) {
    const who = caller.kind === 'agent' ? 'a person or a service' : `a caller of the tenant ${defaultTenant}`;
    return `No key of yours can have it: ${never}. Have ${who} send the request.`;
  }
  return `Have a caller with keys:admin create a key with this scope: holdpoint keys create NAME --kind ${caller.kind} --scope ${scope}`;
}

/** draft-ietf-httpapi-ratelimit-headers: the quota in its window, the remaining quota, and the seconds until more quota is available. */
function tellRate(reply: FastifyReply, { limit, burst, remaining, resetMs }: NonNullable<Admission['rate']>): void {
  reply.headers({
    'ratelimit-policy': `"key";q=${burst};w=${Math.ceil(burst / limit)}`,
    ratelimit: `"key";r=${remaining};t=${Math.ceil(resetMs / 1000)}`,
  });
}

const keptMs = 3_600_000;
const most = 100;

/** Keys accepted by a route within the last hour, by their hashes. */
interface RecentKeys {
  add(key: string): void;
  has(key: string): boolean;
}

function openRecentKeys(now: () => number): RecentKeys {
  /** In order of their last use. */
  const until = new Map<string, number>();
  return {
    add(key) {
      const hash = hashOf(key);
      until.delete(hash);
      until.set(hash, now() + keptMs);
      if (until.size > most) until.delete([...until.keys()][0] ?? '');
    },
    has: (key) => (until.get(hashOf(key)) ?? 0) > now(),
  };
}

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');
