import { approvalSchema, idParamsSchema } from '@holdpoint/contract/wire';
import { type ApprovalView, showsResult } from '@holdpoint/engine';
import type { App } from '../../deps.ts';
import { awaitRun } from '../../live/stream.ts';
import { toApproval } from './approval-view.ts';

/** POST /v1/approvals/{id}/preview: run a held call on a throw-away fork, and show the result before the decision. */
export function previewRoute(app: App): void {
  app.post(
    '/v1/approvals/:id/preview',
    {
      config: { access: 'approvals:decide' },
      schema: {
        tags: ['approvals'],
        operationId: 'previewApproval',
        summary: 'Run a held call on a throw-away fork, and show the result',
        description:
          'For a call whose effect stays in the workspace, by a caller who may decide on it. The call runs without a network and without secrets, within the limits of the run. ' +
          'The answer is the approval that carries the result (`replaces` names this one, which is `canceled` with `superseded_by`): approving it applies exactly that result, and nothing runs again. ' +
          '202: no worker has made the result yet; `preview_request` says so, and the same request waits again. ' +
          'Where there is no result to show, the answer is this approval, and `preview_request` has the reason. ' +
          'Any other call, a question and a publish are 422 `no_preview`. A decision on the old approval is 409 `action_changed`.',
        params: idParamsSchema,
        response: { 200: approvalSchema, 202: approvalSchema },
      },
    },
    async ({ params: { id }, deps }, reply) => {
      const { run } = await deps.engine.approvals.current(id);
      let asked: ApprovalView | undefined;
      const current = () => deps.engine.approvals.current(asked?.approval.id ?? id);
      await awaitRun(deps, reply, {
        runId: run.id,
        ask: async () => {
          asked = await deps.engine.approvals.preview(id);
        },
        isPending: async () => isAwaited(await current()),
      });
      const view = await current();
      return reply.code(isAwaited(view) ? 202 : 200).send(await toApproval(deps, view));
    },
  );
}

const isAwaited = ({ approval }: ApprovalView): boolean =>
  approval.status === 'pending' && approval.previewing !== undefined && !showsResult(approval);
