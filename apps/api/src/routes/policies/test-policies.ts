import { operatorPolicyName, operatorPolicySchema, policySchema, type RunSpec } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import type { Engine } from '@holdpoint/engine';
import type { z } from 'zod';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { checkSettings } from '../runs/check-settings.ts';
import { checkDocument } from './try-policies.ts';

const tags = ['policies'];
const config = { access: 'policies:read' } as const;
const consumes = ['application/json', 'application/yaml'];

export function testPolicyRoutes(app: App): void {
  app.post(
    '/v1/policies/test',
    {
      config,
      schema: {
        tags,
        operationId: 'testPolicy',
        summary: 'Say what a document would do with a call, and why',
        description: "Judged as the policy of a run, beside the operator's policy in force. Nothing is stored.",
        consumes,
        body: wire.testPolicySchema,
        response: { 200: wire.explanationSchema },
      },
    },
    async ({ body, deps }) =>
      explainCall(deps, body.call, {
        ...{ policy: checkDocument(deps, body.policy, { at: '/policy' }), operator: 'current' },
      }),
  );

  app.post(
    '/v1/policies/:name/test',
    {
      config,
      schema: {
        tags,
        operationId: 'testNamedPolicy',
        summary: 'Say what a stored policy would do with a call, and why',
        consumes,
        params: wire.policyParamsSchema,
        body: wire.testNamedPolicySchema,
        response: { 200: wire.explanationSchema },
      },
    },
    async ({ params: { name }, body: { call, version }, deps }) =>
      explainCall(deps, call, await boundOf(deps, name, version)),
  );
}

type Policies = Parameters<Engine['policies']['explain']>[1];

async function boundOf({ engine }: Pick<ApiDeps, 'engine'>, name: string, version?: number): Promise<Policies> {
  const stored = await engine.policies.get(name, version);
  const { digest } = stored;
  if (name === operatorPolicyName) {
    const operator = { document: operatorPolicySchema.parse(stored.document), digest, version: stored.version };
    return { policy: policySchema.parse({}), operator };
  }
  const policy_pin = { name, version: stored.version, digest };
  return { policy: policySchema.parse(stored.document), policy_pin, operator: 'current' };
}

function explainCall(
  { engine, catalog }: Pick<ApiDeps, 'engine' | 'catalog'>,
  { network, ...call }: z.output<typeof wire.testNamedPolicySchema>['call'],
  policies: Policies,
): wire.PolicyExplanation {
  const settings = catalog.toolsets().includes(call.toolset) ? checkSettings({ catalog }, call, '/call') : {};
  const imagined = { ...call, settings, network: { allow: network } satisfies RunSpec['network'] };
  const explained = engine.policies.explain(imagined, policies);
  if (explained.ok) return explained.explanation;
  const { error, issues = [] } = explained;
  const places = issues.map(({ pointer, detail }) => ({ pointer: `/call/args${pointer}`, detail }));
  const errors = places.length > 0 ? places : [{ pointer: '/call/tool', detail: error.message }];
  throw new ApiProblem('invalid_request', error.message, { errors });
}
