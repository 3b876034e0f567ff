import type { Json } from '@holdpoint/contract';
import { approvalSchema, type ChallengeDecision, decideSchema, idParamsSchema } from '@holdpoint/contract/wire';
import type { StepApproval } from '@holdpoint/engine';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { confirmWith } from '../../passkeys/confirm-with.ts';
import { withComments } from '../runs/line-comments.ts';
import { toApproval } from './approval-view.ts';
import { checkResolutions } from './check-resolutions.ts';

/** The length of a message with its comments. */
const mostCharacters = 100_000;

/** POST /v1/approvals/{id}/decision: the first decision wins, and binds to its call. */
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
          'the call does not run: it is parked again, and this approval names the new one (`superseded_by`). ' +
          'Where several callers have to approve, the approval stays `pending` until the last of them did; one rejection decides. ' +
          'A caller that `deciders` does not name gets 403 `not_a_decider`. ' +
          'With `remember` later calls are decided in the same way; `remembered` of the answer has every rule about the call, so a rule that says the opposite is seen. ' +
          'Where `confirm` is `passkey`, a decision that releases the call has an `assertion` (POST …/challenge); without it 403 `passkey_required`. ' +
          'An approval that is `cut` is approved with the `content_digest` of its content; otherwise 409 `not_opened`.',
        params: idParamsSchema,
        body: decideSchema,
        response: { 200: approvalSchema },
      },
    },
    async ({ params, body, deps }) => {
      await checkEdit(deps, params.id, body);
      const confirm = body.assertion && confirmWith(deps, body.assertion);
      return toApproval(deps, await deps.engine.approvals.decide(params.id, { ...requestOf(deps, body), confirm }));
    },
  );
}

/** @throws ApiProblem `missing_scope` */
export function requestOf(deps: ApiDeps, body: ChallengeDecision) {
  const { decision, action_digest, args, content_digest, on_invalid } = body;
  const message = withComments(body.message, body.comments, { most: mostCharacters });
  return {
    ...{ decision, action_digest, args, message, content_digest },
    settlesInvalid: on_invalid === 'reject',
    remember: rememberOf(deps, body),
  };
}

function rememberOf({ holder }: ApiDeps, { remember = 'none', remember_s, remember_external }: ChallengeDecision) {
  if (remember === 'none') return undefined;
  if (remember === 'policy' && !holder.scopes.includes('policies:write')) {
    const { name } = holder.caller;
    throw new ApiProblem(
      'missing_scope',
      `a rule for all runs of the tenant needs the scope policies:write, which the key of ${name} lacks`,
    );
  }
  return { scope: remember, expires_s: remember_s, external: remember_external };
}

type Deps = Pick<ApiDeps, 'engine'>;

/** The engine refuses wrong arguments too; this check also names the place of each in the body. @throws ApiProblem `invalid_request` */
export async function checkEdit(
  deps: Deps,
  id: string,
  { decision, action_digest, args, on_invalid }: ChallengeDecision,
): Promise<void> {
  if (decision !== 'edit' || args === undefined) return;
  const view = await deps.engine.approvals.get(id);
  const { approval, digest } = view;
  // The engine's own refusals come first: decided already, changed, or no edit allowed.
  if (approval.status !== 'pending' || digest !== action_digest) return;
  if (!approval.request.allowed_decisions.includes('edit')) return;
  if (view.subject === 'step') {
    if (on_invalid !== 'reject') await checkArguments(deps, view, args);
  } else await checkResolutions(deps, view, args);
}

async function checkArguments(deps: Deps, view: StepApproval, args: Json): Promise<void> {
  const described = await deps.engine.approvals.describeEdit(view, args);
  if (described.ok) return;
  const errors = (described.issues ?? []).map(({ pointer, detail }) => ({ pointer: `/args${pointer}`, detail }));
  throw new ApiProblem('invalid_request', described.error.message, { errors });
}
