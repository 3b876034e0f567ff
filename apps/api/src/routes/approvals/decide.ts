import { approvalSchema, decideSchema, idParamsSchema } from '@holdpoint/contract/wire';
import { type ApiDeps, type App, operator } from '../../deps.ts';
import { toApproval } from './approval-view.ts';
import { checkEdit } from './check-edit.ts';

/** POST /v1/approvals/{id}/decision: the first decision wins, and binds to the call it was made for. */
export function decideRoute(app: App, deps: ApiDeps): void {
  app.post(
    '/v1/approvals/:id/decision',
    {
      schema: {
        tags: ['approvals'],
        operationId: 'decideApproval',
        summary: 'Decide on an approval',
        description:
          'The same decision again is answered as the first was; another one is 409 `already_decided`. ' +
          'A digest that is no longer that of the call is 409 `action_changed`. When a background command changes the files after the decision, ' +
          'nothing runs: the call is parked again, and this approval names the one that asks (`superseded_by`).',
        params: idParamsSchema,
        body: decideSchema,
        response: { 200: approvalSchema },
      },
    },
    async ({ params, body }) => {
      await checkEdit(deps, params.id, body);
      const { decision, action_digest, args, message } = body;
      const view = await deps.engine.approvals.decide(params.id, {
        decision,
        action_digest,
        by: operator,
        ...(args === undefined ? {} : { args }),
        ...(message === undefined ? {} : { message }),
      });
      return toApproval(deps, view);
    },
  );
}
