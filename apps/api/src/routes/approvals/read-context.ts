import { type ApprovalContext, approvalContextSchema, idParamsSchema } from '@holdpoint/contract/wire';
import type { Engine } from '@holdpoint/engine';
import type { App } from '../../deps.ts';

/** GET /v1/approvals/{id}/context: what led to the question, for the person who decides. */
export function readContextRoute(app: App): void {
  app.get(
    '/v1/approvals/:id/context',
    {
      config: { access: 'approvals:read' },
      schema: {
        tags: ['approvals'],
        operationId: 'getApprovalContext',
        summary: 'Read what led to an approval',
        description:
          'The words of the model in the turn of the call, what the run read since the last decision, and how often people decided on such a call, and how. ' +
          'Made from the logs for each answer, from 5,000 entries of the run and 20,000 of the newest runs of the tenant at most: `cut` and `complete` say whether there is more.',
        params: idParamsSchema,
        response: { 200: approvalContextSchema },
      },
    },
    async ({ params, deps }) => {
      const view = await deps.engine.approvals.get(params.id);
      const context = await deps.engine.approvals.context(view);
      return { approval_id: view.approval.id, run_id: view.run.id, ...toContext(context) };
    },
  );
}

type Found = Awaited<ReturnType<Engine['approvals']['context']>>;

function toContext(found: Found): Omit<ApprovalContext, 'approval_id' | 'run_id'> {
  const { turn, message, since, calls, files, hosts, commands, isCut, decided } = found;
  return {
    ...{ turn: turn ?? null, message: message ?? null, since: since ?? null },
    read: { calls, files, hosts, commands, cut: isCut },
    decided: decided === undefined ? null : toDecided(decided),
  };
}

const toDecided = ({ same, alike, head, last, runs, isComplete }: NonNullable<Found['decided']>) => ({
  ...{ same, alike, head: head ?? null, runs, complete: isComplete },
  last: last.map(({ by, isSameCall, ...decision }) => ({ ...decision, by: by ?? null, same: isSameCall })),
});
