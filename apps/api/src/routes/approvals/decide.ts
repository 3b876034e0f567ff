import { approvalSchema, type Decide, decideSchema } from '@holdpoint/client/wire/approval';
import { idParamsSchema } from '@holdpoint/client/wire/page';
import { decideApproval, viewApproval } from '@holdpoint/engine/commands/decide-approval';
import { type ApiDeps, type App, operator } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { toApproval } from './approval-view.ts';

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
          'A digest that is no longer that of the call is 409 `action_changed`.',
        params: idParamsSchema,
        body: decideSchema,
        response: { 200: approvalSchema },
      },
    },
    async ({ params, body }) => {
      await checkArguments(deps, params.id, body);
      const { decision, action_digest, args, message } = body;
      const view = await decideApproval(deps, params.id, {
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

/** The engine refuses wrong arguments too; here each of them is named by its place in the body. */
async function checkArguments(deps: ApiDeps, id: string, { decision, action_digest, args }: Decide): Promise<void> {
  if (decision !== 'edit' || args === undefined) return;
  const { approval, run, step, digest } = await viewApproval(deps, id);
  // What is decided or has changed is told first.
  if (approval.status !== 'pending' || digest !== action_digest) return;
  const described = deps.catalog.describe({ toolset: run.header.toolset, tool: step.call.tool, args });
  if (described.ok) return;
  const errors = described.issues.map(({ pointer, detail }) => ({ pointer: `/args${pointer}`, detail }));
  throw new ApiProblem('invalid_request', described.error.message, { errors });
}
