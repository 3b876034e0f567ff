import { operatorPolicyName, type PolicyVersion, storedPolicySchema } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import { EngineError } from '@holdpoint/engine';
import type { ApiDeps, App } from '../../deps.ts';
import { checkDocument } from './try-policies.ts';

export const toSummary = ({ document, ...version }: PolicyVersion): wire.PolicySummary => ({
  ...version,
  rules: document.rules.length,
});

const tags = ['policies'];
const config = { access: 'policies:write' } as const;

export function changePolicyRoutes(app: App): void {
  app.put(
    '/v1/policies/:name',
    {
      config,
      schema: {
        tags,
        operationId: 'putPolicy',
        summary: 'Store a policy: the next version of the name',
        description:
          'The body is the document, as JSON or YAML. 201 for a new version; 200 when the newest version has the same content, and nothing was changed. ' +
          "A document with a mistake is a 422, and the version before stays. `operator` is the operator's policy of the whole installation: it binds every run " +
          'from now on, in this process at once and in the others within a second; only keys of the tenant `default` change it, and 409 `managed_by_file` ' +
          'says that HOLDPOINT_POLICY names the file that has it.',
        consumes: ['application/json', 'application/yaml'],
        params: wire.policyParamsSchema,
        querystring: wire.changePolicyQuerySchema,
        body: storedPolicySchema,
        response: { 201: wire.storedVersionSchema, 200: wire.storedVersionSchema },
      },
    },
    async ({ params: { name }, query, body, deps }, reply) => {
      assertNoFile(deps, name);
      const document = checkDocument(deps, body, { name });
      const { policy, created } = await deps.engine.policies.put(name, document, { ifVersion: query.if_version });
      await followOperator(deps, name);
      reply.header('location', `/v1/policies/${name}/versions/${policy.version}`);
      return reply.code(created ? 201 : 200).send(policy);
    },
  );

  app.delete(
    '/v1/policies/:name',
    {
      config,
      schema: {
        tags,
        operationId: 'deletePolicy',
        summary: 'Delete a policy',
        description:
          'New runs cannot name it. Its versions stay readable, and runs that were accepted with one keep it.',
        params: wire.policyParamsSchema,
        querystring: wire.changePolicyQuerySchema,
        response: { 200: wire.policySummarySchema },
      },
    },
    async ({ params: { name }, query, deps }) => {
      assertNoFile(deps, name);
      const last = await deps.engine.policies.delete(name, { ifVersion: query.if_version });
      await followOperator(deps, name);
      return toSummary(last);
    },
  );
}

function assertNoFile({ operator }: Pick<ApiDeps, 'operator'>, name: string): void {
  if (name !== operatorPolicyName || operator.file === undefined) return;
  throw new EngineError('managed_by_file', "HOLDPOINT_POLICY names the file that has the operator's policy");
}

async function followOperator({ operator }: Pick<ApiDeps, 'operator'>, name: string): Promise<void> {
  if (name === operatorPolicyName) await operator.refresh();
}
