import { idParamsSchema, sessionListSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { recordChange } from '../../record-change.ts';
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
      await deps.callers.endSession(deps.holder, id);
      await recordChange(deps, { subject: `session/${id}`, action: 'ended', detail: { key: deps.holder.keyId } });
      return reply.code(204).send();
    },
  );
}
