import { approvalSchema, decideSchema, idParamsSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { toApproval } from './approval-view.ts';
import { checkEdit } from './check-edit.ts';

/** POST /v1/approvals/{id}/decision: the first decision wins, and binds to the call it was made for. */
export function decideRoute(app: App): void {
  app.post(
    '/v1/approvals/:id/decision',
    {
      config: { access: 'approvals:decide' },
      schema: {
        tags: ['approvals'],
        operationId: 'decideApproval',
        summary: 'Decide on an approval',
        description:
          'A repeated decision gets the answer of the first; a different one is 409 `already_decided`. ' +
          'An outdated digest is 409 `action_changed`. When a background command changes the files after the decision, ' +
          'the call does not run: it is parked again, and this approval names the new one (`superseded_by`).',
        params: idParamsSchema,
        body: decideSchema,
        response: { 200: approvalSchema },
      },
    },
    async ({ params, body, deps }) => {
      await checkEdit(deps, params.id, body);
      const { decision, action_digest, args, message } = body;
      const view = await deps.engine.approvals.decide(params.id, {
        decision,
        action_digest,
        args,
        message,
      });
      return toApproval(deps, view);
    },
  );
}
