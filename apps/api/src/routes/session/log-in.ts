import { CallerError, type Holder } from '@holdpoint/callers';
import { exchangeCodeSchema, loginCodeSchema, loginSchema } from '@holdpoint/contract/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clearCookie, guardOrigin, isFromHttps, setCookie, tokenOf } from '../../auth/session-cookie.ts';
import { type App, recordChange, type ServerDeps } from '../../deps.ts';
import { emptyAnswer } from '../../schema/empty.ts';

const tags = ['sessions'];
const open = { access: 'open' } as const;

/** A browser logs in with a key, or with the code of a link. Its session is a cookie that no script can read. */
export function logInRoutes(app: App, deps: ServerDeps): void {
  app.post(
    '/v1/session',
    {
      config: open,
      schema: {
        tags,
        operationId: 'logIn',
        summary: 'Log a browser in with a key',
        description:
          'Sets the cookie `holdpoint_session` (HttpOnly, SameSite=Strict). The session has the rights of its key, and ends with it, after 12 hours without a request, or after 7 days. With the cookie every write needs the header Origin of this server.',
        body: loginSchema,
        response: { 204: emptyAnswer },
      },
    },
    async (request, reply) => {
      const { holder } = await deps.callers.check(request.body.key);
      return logIn(deps, request, reply, { holder, by: 'key' });
    },
  );

  app.post(
    '/v1/session/exchange',
    {
      config: open,
      schema: {
        tags,
        operationId: 'exchangeCode',
        summary: 'Log a browser in with the code of a link',
        description: 'A code logs in once, within a minute. Then as with a key.',
        body: exchangeCodeSchema,
        response: { 204: emptyAnswer },
      },
    },
    async (request, reply) => {
      const { holder } = await deps.callers.exchangeCode(request.body.code);
      return logIn(deps, request, reply, { holder, by: 'link' });
    },
  );

  app.delete(
    '/v1/session',
    {
      config: open,
      schema: {
        tags,
        operationId: 'logOut',
        summary: 'End the session of this browser',
        description: 'Removes the cookie, too. Without a session nothing changes.',
        response: { 204: emptyAnswer },
      },
    },
    async (request, reply) => {
      if (tokenOf(request) !== undefined) guardOrigin(request);
      await endPresent(deps, request);
      clearCookie(reply);
      return reply.code(204).send();
    },
  );

  app.post(
    '/v1/session/code',
    {
      config: { access: 'any key' },
      schema: {
        tags,
        operationId: 'createLoginCode',
        summary: 'Create a code for a link that logs a browser in',
        description:
          'The link is `/login#code=…`: a fragment is in no log of a server. Only with a key: a session cannot prolong itself (403 `key_required`).',
        response: { 201: loginCodeSchema },
      },
    },
    async ({ deps }, reply) => {
      reply.header('cache-control', 'no-store');
      return reply.code(201).send(await deps.callers.createCode(deps.holder));
    },
  );
}

/** The token is always new, and the session before ends: no one can choose it in advance, and none is left behind. */
async function logIn(
  deps: ServerDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { holder, by }: { holder: Holder; by: 'key' | 'link' },
): Promise<FastifyReply> {
  await endPresent(deps, request);
  const { id, token } = await deps.callers.openSession(holder);
  await recordChange(
    { ...deps, holder },
    { subject: `session/${id}`, action: 'opened', detail: { key: holder.keyId, by } },
  );
  setCookie(reply, token, isFromHttps(request));
  return reply.code(204).header('cache-control', 'no-store').send();
}

/** A session that has ended already, or whose key has. */
function refusedOnly(error: unknown): undefined {
  if (!(error instanceof CallerError)) throw error;
}

async function endPresent(deps: ServerDeps, request: FastifyRequest): Promise<void> {
  const token = tokenOf(request);
  const found = token === undefined ? undefined : await deps.callers.checkSession(token).catch(refusedOnly);
  if (found?.holder.session === undefined) return;
  const { holder } = found;
  await deps.callers.endSession(holder, found.holder.session);
  await recordChange(
    { ...deps, holder },
    { subject: `session/${found.holder.session}`, action: 'ended', detail: { key: holder.keyId } },
  );
}
