import * as wire from '@holdpoint/contract/wire';
import { decisionOf, type ListedRule } from '@holdpoint/engine';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem, showEach } from '../../errors/to-problem.ts';
import { checkRunId } from '../runs/read-runs.ts';

const tags = ['rules'];

/** The lasting decisions of people: made with a decision, listed and revoked here. */
export function rulesRoutes(app: App): void {
  app.get(
    '/v1/rules',
    {
      config: { access: 'approvals:read' },
      schema: {
        tags,
        operationId: 'listRules',
        summary: 'List the remembered rules in force, newest first',
        querystring: wire.listRulesQuerySchema,
        response: { 200: wire.rememberedRulePageSchema },
      },
    },
    async ({ query: { run_id, ...page }, deps }) => {
      const filter = { run_id: run_id === undefined ? undefined : checkRunId(run_id) };
      const { next, ...listed } = await deps.engine.rules.list(filter, page);
      const shown = await showEach(deps, listed, { idOf: ({ rule }) => rule.id, show: (one) => toRule(deps, one) });
      return { ...shown, next_cursor: next ?? null, has_more: next !== undefined };
    },
  );

  app.get(
    '/v1/rules/:id',
    {
      config: { access: 'approvals:read' },
      schema: {
        tags,
        operationId: 'getRule',
        summary: 'Read a remembered rule',
        params: wire.idParamsSchema,
        response: { 200: wire.rememberedRuleSchema },
      },
    },
    async ({ params, deps }) => toRule(deps, await deps.engine.rules.get(params.id)),
  );

  app.delete(
    '/v1/rules/:id',
    {
      config: { access: 'approvals:decide' },
      schema: {
        tags,
        operationId: 'revokeRule',
        summary: 'Revoke a remembered rule',
        description:
          'After the answer it decides no call. A rule for all runs of the tenant needs the scope policies:write as well. Revoking again changes nothing.',
        params: wire.idParamsSchema,
        response: { 200: wire.rememberedRuleSchema },
      },
    },
    async ({ params, deps }) => {
      const { rule } = await deps.engine.rules.get(params.id);
      if (rule.made.scope === 'policy') assertMayChangePolicies(deps);
      return toRule(deps, await deps.engine.rules.revoke(params.id));
    },
  );
}

/** @throws ApiProblem `missing_scope` */
function assertMayChangePolicies({ holder: { scopes, caller } }: ApiDeps): void {
  if (scopes.includes('policies:write')) return;
  const detail = `a rule for all runs of the tenant needs the scope policies:write, which the key of ${caller.name} lacks`;
  throw new ApiProblem('missing_scope', detail);
}

async function toRule(
  { engine }: Pick<ApiDeps, 'engine'>,
  { rule, runId, isInForce }: ListedRule,
): Promise<wire.RememberedRule> {
  const {
    scope,
    message = null,
    approval_id,
    toolset,
    tool,
    args,
    effect,
    reaches = null,
    leaves_out = [],
    call_digest,
    by,
    made_at,
    expires_at,
  } = rule.made;
  return {
    ...{
      id: rule.id,
      scope,
      run_id: runId,
      approval_id,
      toolset,
      tool,
      effect,
      reaches,
      leaves_out,
      call_digest,
      expires_at,
    },
    ...{ decision: decisionOf(rule), message },
    args: await engine.read(args),
    created_at: made_at,
    created_by: by,
    in_force: isInForce,
    revoked_by: rule.revoked_by ?? null,
  };
}
