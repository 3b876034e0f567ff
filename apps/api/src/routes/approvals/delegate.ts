import { nearestNames } from '@holdpoint/contract';
import { approvalSchema, delegateSchema, idParamsSchema, type Key } from '@holdpoint/contract/wire';
import { EngineError } from '@holdpoint/engine';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { toApproval } from './approval-view.ts';

/** POST /v1/approvals/{id}/delegate: a caller with the right to decide lets another caller decide on this approval. */
export function delegateRoute(app: App): void {
  app.post(
    '/v1/approvals/:id/delegate',
    {
      config: { access: 'approvals:decide' },
      schema: {
        tags: ['approvals'],
        operationId: 'delegateApproval',
        summary: 'Let another caller decide',
        description:
          'For this approval alone. Where several callers have to approve, both together count once. An agent can never decide, and neither can who submitted the run where the policy says so. Delegating again to the same caller changes nothing.',
        params: idParamsSchema,
        body: delegateSchema,
        response: { 200: approvalSchema },
      },
    },
    async ({ params, body, deps }) => {
      await deps.engine.approvals.get(params.id);
      const to = await findCaller(deps, body.to);
      return toApproval(deps, await deps.engine.approvals.delegate(params.id, to));
    },
  );
}

/** The caller of the tenant with a key in force of this name. @throws ApiProblem `invalid_request` */
async function findCaller({ callers, holder, now }: ApiDeps, name: string) {
  const names: string[] = [];
  const { tenant } = holder.caller;
  let cursor: string | undefined;
  do {
    const { items, next } = await callers.list(holder, { tenant, limit: 200, cursor });
    const inForce = items.filter(({ revoked_at, expires_at }) => {
      return revoked_at === null && (expires_at === null || Date.parse(expires_at) > now());
    });
    const found = inForce.find((key) => key.name === name);
    if (found !== undefined) {
      assertMayDecide(found);
      return { name, kind: found.kind };
    }
    names.push(...inForce.map((key) => key.name));
    cursor = next ?? undefined;
  } while (cursor !== undefined);
  const [nearest] = nearestNames(name, names);
  const detail = `no caller named ${name} holds a key${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
  throw new ApiProblem('invalid_request', detail, { errors: [{ pointer: '/to', detail }] });
}

/** A delegation to a caller without the right to decide would wait in vain. @throws EngineError `invalid_delegation` */
function assertMayDecide({ name, kind, scopes }: Pick<Key, 'name' | 'kind' | 'scopes'>): void {
  if (scopes.includes('approvals:decide')) return;
  const why =
    kind === 'agent' ? 'is an agent, and agents decide nothing' : 'has a key without the scope approvals:decide';
  throw new EngineError('invalid_delegation', `${name} ${why}`);
}
