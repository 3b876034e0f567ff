import type { PolicyReference, storedPolicySchema } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import type { Engine } from '@holdpoint/engine';
import type { z } from 'zod';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { showDamaged } from '../../errors/show-damaged.ts';
import { resolvePolicy } from '../runs/resolve-policy.ts';
import { showProposal, showReplay } from './show-replay.ts';
import { checkDocument } from './validate-policy.ts';

const tags = ['policies'];
/** They show calls of runs. */
const config = { access: 'runs:read' } as const;
const consumes = ['application/json', 'application/yaml'];

export function replayPoliciesRoutes(app: App): void {
  app.post(
    '/v1/policies/replay',
    {
      config,
      schema: {
        tags,
        operationId: 'replayPolicy',
        summary: 'Judge recorded calls again with another policy',
        description:
          "Every call of the tenant's runs since a time, newest run first: what would newly be allowed, held and denied, with how people decided then. " +
          'The document takes the place of the policy of the run; the policies of the operator are those of then. Send again with `next_cursor` until it is null. Nothing is changed.',
        consumes,
        body: wire.replayPolicySchema,
        response: { 200: wire.replayPageSchema },
      },
    },
    async ({ body, deps }) => {
      const { since, cursor } = body;
      const page = await deps.engine.policies.replay(await candidateOf(deps, body), { since, cursor });
      return { ...showReplay(page), ...showDamaged(deps, page.damaged) };
    },
  );

  app.post(
    '/v1/policies/propose',
    {
      config,
      schema: {
        tags,
        operationId: 'proposeRules',
        summary: 'Propose rules from past decisions',
        description:
          'Rules that would have let through calls that people always approved, and none that was refused or denied; each with its calls. Nothing is changed: a person puts them into a policy.',
        consumes,
        body: wire.proposeRulesSchema,
        response: { 200: wire.ruleProposalsSchema },
      },
    },
    async ({ body, deps }) => {
      const { proposals, damaged, ...about } = await deps.engine.policies.propose(body);
      return { data: proposals.map(showProposal), ...about, ...showDamaged(deps, damaged) };
    },
  );
}

/** @throws ApiProblem `invalid_policy`, `unknown_policy`, `missing_scope` */
async function candidateOf(
  deps: Pick<ApiDeps, 'engine' | 'catalog' | 'holder'>,
  { policy, name: insteadOf }: Pick<z.output<typeof wire.replayPolicySchema>, 'policy' | 'name'>,
): Promise<Parameters<Engine['policies']['replay']>[0]> {
  if (isReference(policy)) {
    if (!deps.holder.scopes.includes('policies:read')) {
      throw new ApiProblem('missing_scope', 'a policy by its name needs the scope policies:read');
    }
    const { policy: document, policy_pin } = await resolvePolicy(deps, policy);
    return { document, name: policy.name, version: policy_pin?.version, insteadOf };
  }
  const document = checkDocument(deps, policy, { name: insteadOf, at: '/policy' });
  return { document, name: insteadOf ?? 'run', insteadOf };
}

const isReference = (policy: z.output<typeof storedPolicySchema> | PolicyReference): policy is PolicyReference =>
  'name' in policy;
