import type { Tenant } from '@holdpoint/contract';
import { putQuotasSchema, type QuotaView, quotaParamsSchema, quotaViewSchema } from '@holdpoint/contract/wire';
import { personNamed, readQuotas, readUse, writeQuotas } from '@holdpoint/engine';
import { type ApiDeps, type App, recordChange } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';

const tags = ['quotas'];
const dayMs = 24 * 3_600_000;

/** How much a tenant and each of its persons may use. The operator sets it; its callers see it. */
export function quotasRoutes(app: App): void {
  app.get(
    '/v1/quotas',
    {
      config: { access: 'runs:read' },
      schema: {
        ...{ tags, operationId: 'getOwnQuotas', summary: 'Read the quotas of your tenant, and what is used of them' },
        response: { 200: quotaViewSchema },
      },
    },
    async ({ deps }) => viewOf(deps, deps.holder.caller.tenant),
  );

  const config = { access: 'queues:admin' } as const;
  app.get(
    '/v1/quotas/:tenant',
    {
      config,
      schema: {
        ...{ tags, operationId: 'getQuotas', summary: 'Read the quotas of a tenant, and what is used of them' },
        ...{ params: quotaParamsSchema, response: { 200: quotaViewSchema } },
      },
    },
    async ({ params, deps }) => viewOf(deps, params.tenant),
  );

  app.put(
    '/v1/quotas/:tenant',
    {
      config,
      schema: {
        ...{ tags, operationId: 'putQuotas', summary: 'Replace the quotas of a tenant' },
        description:
          'A lower quota ends no run. With `version` of a reading: 409 `quotas_changed` after another change.',
        ...{ params: quotaParamsSchema, body: putQuotasSchema, response: { 200: quotaViewSchema } },
      },
    },
    async ({ params: { tenant }, body: { version: after, ...quotas }, deps }) => {
      if (deps.holder.caller.kind === 'agent') {
        throw new ApiProblem('agents_set_no_quotas', 'an agent could otherwise widen its own bounds');
      }
      const { version } = await writeQuotas(deps.redis, tenant, { quotas, after });
      await recordChange(deps, { subject: `quotas/${tenant}`, action: 'changed', detail: { version, ...quotas } });
      return viewOf(deps, tenant);
    },
  );
}

async function viewOf({ redis, now, holder: { caller } }: ApiDeps, tenant: Tenant): Promise<QuotaView> {
  const person = caller.tenant === tenant ? await personNamed(redis, tenant, caller.name) : undefined;
  const at = now();
  return {
    ...{ tenant, ...(await readQuotas(redis, tenant)) },
    used: await readUse(redis, { tenant }, at),
    own: person === undefined ? null : await readUse(redis, { tenant, person }, at),
    frees_at: new Date((Math.floor(at / dayMs) + 1) * dayMs).toISOString(),
  };
}
