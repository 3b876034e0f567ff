import { CallerError } from '@holdpoint/callers';
import { endedSessionsSchema, idParamsSchema, sessionListSchema } from '@holdpoint/contract/wire';
import { type ApiDeps, type App, recordChange } from '../../deps.ts';
import { emptyAnswer } from '../../schema/empty.ts';

const tags = ['sessions'];
const config = { access: 'any key' } as const;

/** The logins of browsers with the key of the caller. */
export function sessionsRoutes(app: App): void {
  app.get(
    '/v1/sessions',
    {
      config,
      schema: {
        tags,
        operationId: 'listSessions',
        summary: 'List the sessions of your key, newest first',
        description: 'A key has at most 100: the next login ends the oldest.',
        response: { 200: sessionListSchema },
      },
    },
    async ({ deps: { callers, holder } }) => {
      const found = await callers.listSessions(holder);
      return { data: found.map((session) => ({ ...session, current: session.id === holder.session })) };
    },
  );

  app.delete(
    '/v1/sessions',
    {
      config,
      schema: {
        tags,
        operationId: 'endSessions',
        summary: 'End all sessions of your key, but the one of the request',
        description: 'A request with the key itself has no session, so all end. As with each alone.',
        response: { 200: endedSessionsSchema },
      },
    },
    async ({ deps }) => {
      const { callers, holder } = deps;
      const others = (await callers.listSessions(holder)).filter(({ id }) => id !== holder.session);
      const ends = await Promise.all(others.map(({ id }) => endOne(deps, id).then(() => true, unlessEnded)));
      return { ended: ends.filter(Boolean).length };
    },
  );

  app.delete(
    '/v1/sessions/:id',
    {
      config,
      schema: {
        tags,
        operationId: 'endSession',
        summary: 'End a session of your key',
        description: 'After the answer no request with it is accepted, and its event streams end.',
        params: idParamsSchema,
        response: { 204: emptyAnswer },
      },
    },
    async ({ params: { id }, deps }, reply) => {
      await endOne(deps, id);
      return reply.code(204).send();
    },
  );
}

async function endOne(deps: ApiDeps, id: string): Promise<void> {
  await deps.callers.endSession(deps.holder, id);
  await recordChange(deps, { subject: `session/${id}`, action: 'ended', detail: { key: deps.holder.keyId } });
}

/** A session that ended by itself, or by another request, in the meantime. */
function unlessEnded(error: unknown): false {
  if (error instanceof CallerError && error.code === 'session_not_found') return false;
  throw error;
}
