import { absentQuerySchema, idParamsSchema, presenceListSchema, presentSchema } from '@holdpoint/contract/wire';
import type { ApiDeps, App } from '../../deps.ts';
import { emptyAnswer } from '../../schema/empty.ts';

const tags = ['approvals'];
const config = { access: 'approvals:read' } as const;

/** Who is looking at which approval now. Nothing of it is stored. */
export function presenceRoutes(app: App): void {
  app.get(
    '/v1/presence',
    {
      config,
      schema: {
        tags,
        operationId: 'listPresence',
        summary: 'Say who is looking at which approval now',
        description: 'GET /v1/events as a stream has a `presence.changed` when a viewer comes or leaves.',
        response: { 200: presenceListSchema },
      },
    },
    ({ deps: { presence, holder } }) => ({ data: presence.list(holder.caller.tenant) }),
  );

  app.put(
    '/v1/approvals/:id/presence',
    {
      config,
      schema: {
        tags,
        operationId: 'lookAtApproval',
        summary: 'Say that you are looking at an approval',
        description: 'Others see it for 30 seconds: say it again before. A key counts with 20 pages at most.',
        params: idParamsSchema,
        body: presentSchema,
        response: { 204: emptyAnswer },
      },
    },
    async ({ params, body, deps }, reply) => {
      await deps.presence.look(await signOf(deps, params.id, body.page));
      return reply.code(204).send();
    },
  );

  app.delete(
    '/v1/approvals/:id/presence',
    {
      config,
      schema: {
        tags,
        operationId: 'leaveApproval',
        summary: 'Say that you look no longer',
        params: idParamsSchema,
        querystring: absentQuerySchema,
        response: { 204: emptyAnswer },
      },
    },
    async ({ params, query, deps }, reply) => {
      await deps.presence.leave(await signOf(deps, params.id, query.page));
      return reply.code(204).send();
    },
  );
}

/** @throws EngineError `approval_not_found`, also for one of another tenant */
async function signOf({ engine, holder }: ApiDeps, approvalId: string, page: string) {
  await engine.approvals.get(approvalId);
  return { caller: holder.caller, keyId: holder.keyId, approvalId, page };
}
