import * as wire from '@holdpoint/contract/wire';
import { EngineError } from '@holdpoint/engine';
import type { App } from '../../deps.ts';
import { invalidCursor, showDamaged } from '../../errors/to-problem.ts';
import { toSummary } from './change-policies.ts';

const tags = ['policies'];
const config = { access: 'policies:read' } as const;

export function readPoliciesRoutes(app: App): void {
  app.get(
    '/v1/policies',
    {
      config,
      schema: {
        tags,
        operationId: 'listPolicies',
        summary: 'List the policies of the tenant by name, each in its newest version',
        response: { 200: wire.policyListSchema },
      },
    },
    async ({ deps }) => {
      const { items, damaged } = await deps.engine.policies.list();
      return { data: items.map(toSummary), ...showDamaged(deps, damaged) };
    },
  );

  app.get(
    '/v1/policies/:name',
    {
      config,
      schema: {
        tags,
        operationId: 'getPolicy',
        summary: 'Read the newest version of a policy',
        params: wire.policyParamsSchema,
        response: { 200: wire.storedVersionSchema },
      },
    },
    async ({ params: { name }, deps }) => deps.engine.policies.get(name),
  );

  app.get(
    '/v1/policies/:name/versions',
    {
      config,
      schema: {
        tags,
        operationId: 'listPolicyVersions',
        summary: 'List the versions of a policy, newest first',
        description: 'Versions never change. Those of a deleted policy stay.',
        params: wire.policyParamsSchema,
        querystring: wire.listVersionsQuerySchema,
        response: { 200: wire.policyVersionPageSchema },
      },
    },
    async ({ params: { name }, query, deps }) => {
      const { items, damaged, next } = await deps.engine.policies.versions(name, query);
      // Versions are dense.
      if (query.cursor !== undefined && damaged.length === 0 && items[0]?.version !== query.cursor - 1)
        throw invalidCursor(`no page of ${name} ends at version ${query.cursor}`);
      const next_cursor = next === undefined ? null : String(next);
      const page = { data: items.map(toSummary), next_cursor, has_more: next !== undefined };
      return { ...page, ...showDamaged(deps, damaged) };
    },
  );

  app.get(
    '/v1/policies/:name/versions/:version',
    {
      config,
      schema: {
        tags,
        operationId: 'getPolicyVersion',
        summary: 'Read a version of a policy',
        params: wire.policyVersionParamsSchema,
        response: { 200: wire.storedVersionSchema },
      },
    },
    async ({ params: { name, version }, deps }) => {
      if (!/^[1-9]\d{0,6}$/.test(version)) {
        throw new EngineError('policy_not_found', `there is no version ${version}: versions count from 1`);
      }
      return deps.engine.policies.get(name, Number(version));
    },
  );
}
